#pragma once

#include "client/metadata.hpp"
#include "locks/call/node_call.hpp"
#include "locks/call/node_hold.hpp"
#include "queue/path_use.hpp"
#include "queue/rules_driver.hpp"
#include "rules/simple.hpp"
#include "session/core.hpp"
#include "session/rearming_watch.hpp"

#include <paddock/guard.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace paddock::detail {

class simple_lock;

/// The description of a simple_mutex. It does not change.
struct simple_lock_settings {
    std::shared_ptr<core> client;
    std::string directory; ///< of the marker; begins with the client's root
    std::string path;      ///< of the lock's node; begins with the client's root
    metadata data;
    paddock::acl acl;
    bool persistent_parents = false;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit;
    std::shared_ptr<const counted_lock> counted;
};

/// One call of a simple_mutex.
class simple_call final : public node_call<guard> {
public:
    simple_call(std::shared_ptr<simple_lock> what, handler<void(error_code, guard)>&& h, kind how);

private:
    void join() override;
    void abandoned() override;
    bool known_blocked() const override;
    std::string_view lock_path() const override;
    const counted_lock* counted() const noexcept override;
    std::string rights() const override;

    std::shared_ptr<simple_lock> lock_;
    rules::caller_key key_ = 0; ///< its key in the rules
};

/// The two nodes of a guard of a simple_mutex, which one multi has created.
class simple_resource final : public held_resource {
public:
    simple_resource(std::shared_ptr<simple_lock> of, rules::node_id id, std::string marker)
        : lock_(std::move(of)), id_(id), marker_(std::move(marker)) {}

    void release() override;
    void when_deleted(unique_function<void(error_code)> gone) override;
    void hold_ended(error_code why) override;

private:
    std::shared_ptr<simple_lock> lock_;
    rules::node_id id_;
    std::string marker_; ///< the path of the marker
};

/// A simple_mutex and its copies: the driver of rules::simple. Strand only.
class simple_lock final : public session_listener,
                          public rules_driver<simple_lock, rules::simple>,
                          public std::enable_shared_from_this<simple_lock> {
public:
    using caller = std::shared_ptr<simple_call>;

    explicit simple_lock(simple_lock_settings settings)
        : rules_driver(*settings.client), use_(core_), settings_(std::move(settings)) {}
    ~simple_lock() override;                                                    ///< any thread
    const simple_lock_settings& settings() const noexcept { return settings_; } ///< any thread

    void join(rules::caller_key& key, caller call);
    void quit(rules::caller_key key);
    bool known_blocked() const noexcept { return rules_ && rules_->known_blocked(); }

    // From the session.
    void on_connected() override { rules_driver::on_connected(); }
    void on_suspended() override { rules_driver::on_suspended(); }
    void on_expired() override { rules_driver::on_expired(); }
    void on_closed(error_code why) override;

private:
    friend rules_driver;
    std::shared_ptr<simple_lock> self() { return shared_from_this(); }
    const std::string& directory() const noexcept { return settings_.directory; }
    bool persistent_parents() const noexcept { return settings_.persistent_parents; }
    std::string_view lock_path() const { return settings_.path; }
    void explain(rules::leftover_nodes& nodes);
    const std::string& path_of(std::string_view) const { return settings_.path; }

    void start();
    void after_actions();
    using rules_driver::carry_out;
    void carry_out(const rules::simple_act::glance& a);
    void carry_out(const rules::simple_act::reserve& a);
    void carry_out(const rules::simple_act::unreserve& a);
    void carry_out(const rules::simple_act::race& a);
    void carry_out(const rules::simple_act::look& a);
    void carry_out(const rules::simple_act::forget& a);
    void carry_out(const rules::simple_act::restore_data& a);
    void carry_out(const rules::simple_act::sweep& a);
    void carry_out(const rules::simple_act::taint& a);
    void carry_out(const rules::simple_act::grant& a);
    void carry_out(const rules::simple_act::request_revoke& a);
    void carry_out(const rules::simple_act::give_up& a);
    void carry_out(const rules::simple_act::fail& a);
    void carry_out(const rules::simple_act::lose& a);

    void finish(rules::caller_key key, error_code why, guard what);
    std::string marker(rules::node_id id) const;
    bool of_session(const native::reply& r) const;
    std::size_t node_bytes() const;

    path_use use_; ///< while it is in use
    simple_lock_settings settings_;
    bool started_ = false;
    bool has_children_ = false; ///< the node, when it was last read
    std::map<rules::caller_key, caller> callers_;
    rules::caller_key last_ = 0;
    budget::waiter_id waiting_ = 0; ///< for the node budget
    std::string data_;              ///< the data of the present race's nodes
    std::chrono::system_clock::time_point raced_at_{};
    std::shared_ptr<rearming_watch> watch_;
    std::weak_ptr<node_hold> hold_;
};

} // namespace paddock::detail
