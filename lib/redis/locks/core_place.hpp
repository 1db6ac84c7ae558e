#pragma once

#include "redis/locks/core.hpp"
#include "redis/locks/lock_line.hpp"
#include "redis/locks/script_traffic.hpp"
#include "support/printable.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::redis::detail {

/// One of the servers, as its listener sees it.
struct core::place final : server_listener {
    place(core& client, int n, rules::server at) : owner(client), index(n), where(std::move(at)) {}

    std::string address() const {
        const bool ipv6 = where.host.find(':') != where.host.npos;
        const auto host = ipv6 ? '[' + where.host + ']' : where.host;
        return host + ':' + std::to_string(where.port);
    }
    std::string name() const { return "the Redis server " + address(); }

    void on_clock(time_point sent, std::chrono::microseconds says) override {
        owner.heard_clock(*this, sent, says);
    }
    void on_reachable() override {
        owner.log().write_recovery(name() + " answers", outage, owner.now(), troubles);
        owner.on_reachable(*this);
    }
    void on_unreachable(const std::string& why) override {
        leave();
        refusal.reset(); // it may be another one when it is back: that is waited for
        outage.trouble(owner.now(), tell(log_code::unreachable,
                                         "is not reachable: " + why + owner.missing_quorum()));
        owner.admit_listed_twice();
    }
    void on_refused(const std::string& fault) override {
        leave();
        outage.trouble(owner.now(), true); // each fault has a line
        refuse(fault);
    }
    void on_mismatch(const std::string& fault) override {
        leave();
        refuse(fault, rules::answer::kind::mismatch);
    }
    void on_subscribed(const std::string& channel) override;
    void on_message(const std::string& channel, const std::string& value) override {
        if (const auto line = owner.line_listening_to(channel)) line->on_message(index, value);
    }
    void on_subscription_refused(const std::string& channel, const std::string& fault) override {
        tell(log_code::not_permitted,
             "refuses a subscription to " + printable(channel) + ": " + fault);
        if (const auto line = owner.line_listening_to(channel)) line->on_unsubscribed(index);
    }
    void on_messages_lost(const std::string& why) override {
        owner.tell_lines([this](lock_line& one) { one.on_unsubscribed(index); });
        tell(log_code::unreachable, "sends no messages: " + why);
    }

    /// Returns whether the log has it.
    bool tell(log_code code, const std::string& what) noexcept {
        return tell(code, what, troubles);
    }
    bool tell(log_code code, const std::string& what, paddock::rules::log_limit& limit) noexcept {
        return owner.has_context() &&
               owner.log().write(code, name() + ' ' + what, owner.now(), {}, limit);
    }

    void leave() {
        if (votes) voted_until = owner.now();
        set_votes(false);
    }
    void set_votes(bool can) {
        if (votes.exchange(can, std::memory_order_relaxed) == can) return;
        owner.observers().tell([&](observer& by) { by.on_server(address(), can); });
    }

    server_statistics statistics() const {
        server_statistics out{.server = address(), .usable = votes.load()};
        scripts.copy_to(out);
        return out;
    }

    void refuse(const std::string& fault) {
        rules::reply error;
        error.what = rules::reply::kind::error;
        error.text = fault;
        const bool denied = rules::read_answer(error).what == rules::answer::kind::denied;
        refuse(fault, denied ? rules::answer::kind::denied : rules::answer::kind::replica);
    }
    void refuse(const std::string& fault, rules::answer::kind what) {
        refusal.emplace().what = what;
        refusal->text = fault;
        tell(log_code::unsuitable_server, "cannot be used: " + fault);
        owner.tell_connect_waiters();
        owner.tell_lines([](lock_line& one) { one.on_refused(); });
    }

    /// An administrator hears of a lasting refusal, but not of each.
    void complain_about(const rules::answer& said) {
        const auto complaint = rules::complaint_about(said, owner.deployment_);
        if (complaint.empty()) return;
        const auto code = said.what == rules::answer::kind::young     ? log_code::new_server
                          : said.what == rules::answer::kind::refused ? log_code::slow_ensemble
                                                                      : log_code::unsuitable_server;
        tell(code, complaint, complaints);
    }

    core& owner;
    const int index;
    const rules::server where;
    paddock::rules::log_limit complaints, troubles;
    paddock::rules::outage outage;
    std::unique_ptr<server> link;         ///< null before start(), and after the end
    std::optional<rules::answer> refusal; ///< why the server cannot be used
    std::atomic<bool> votes = false;      ///< it is reachable, and not refused
    std::optional<time_point> voted_until;
    bool listed_twice = false;
    rules::server_clock clock;
    time_point young_until{}; ///< its clock was set
    script_traffic scripts{owner.observers()};
};

} // namespace paddock::redis::detail
