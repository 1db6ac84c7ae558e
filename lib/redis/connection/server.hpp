#pragma once

#include "redis/connection/connection.hpp"
#include "redis/connection/server_listener.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/rules/scripts.hpp"
#include "redis/rules/server_info.hpp"
#include "support/backoff.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::redis {

/// One server, as one client uses it: a connection for scripts, and one for the messages of
/// channels. Both are opened again when they end, after a pause that grows. Before scripts are
/// called the server is asked whether it may be used. A server that closes an idle connection (its
/// option `timeout`) stays reachable: the next one is opened at once, and calls wait for it. Strand
/// only; every callback may destroy it, and none runs from within a method.
class server final : connection::user {
public:
    using time_point = boot_clock::time_point;
    /// What the server said to a script that was sent then, for the first time if it was sent
    /// twice. Nothing: the server cannot be reached, and whether it executes the script, or has
    /// done so, is unknown.
    using called = unique_function<void(std::optional<rules::answer>, time_point sent)>;

    server(environment& env, const rules::server& where, const rules::deployment& all,
           const connection_limits& limits, server_listener& informs);

    /// Calls the script. Calls are executed in their order, but a server that does not know the
    /// script gets it behind the calls of the meantime, and only if `still_wanted` says so; if not,
    /// the answer is `unknown_script`, and nothing is executed.
    void call(rules::script which, rules::call_words words, unique_function<bool()> still_wanted,
              called done);

    void subscribe(const std::string& channel) { messages_.subscribe(channel); }
    void unsubscribe(const std::string& channel) { messages_.unsubscribe(channel); }

    /// False: calls fail at once.
    bool reachable() const noexcept { return reachable_; }
    /// Identifies the server's process, once it has been reachable.
    const std::string& run_id() const noexcept { return info_.run_id; }
    /// As connection::round_trip().
    boot_clock::duration round_trip() const noexcept {
        return connection_ ? connection_->round_trip() : boot_clock::duration::zero();
    }

private:
    struct pending_call;

    void on_open() override;
    void on_message(const std::string&, const std::string&) override {}
    void on_end(ending how, const std::string& why) override;

    void connect();
    void require(const connection::words& command, connection::replied done);
    void ask_info();
    void on_info(const std::optional<rules::reply>& said, time_point sent, bool is_last);
    void judge();
    void ask_marker();
    void on_marker(const std::optional<rules::reply>& said);
    void load_scripts();
    void on_script(std::size_t which, const std::optional<rules::reply>& said);
    void give_up(const char* what, const rules::reply& said);
    void resume();
    void fail_waiting();
    void fail_later(std::shared_ptr<pending_call> one);
    void send(std::shared_ptr<pending_call> one);
    void answered(std::shared_ptr<pending_call> one, const rules::reply& said, time_point sent);

    environment& env_;
    const rules::server where_;
    const rules::deployment deployment_;
    const connection_limits limits_;
    server_listener& listener_;
    bool reachable_ = false;
    bool mismatch_ = false; ///< the connection ends for that
    bool asks_info_ = false;
    time_point info_sent_{}; ///< its first section
    std::string info_text_;  ///< so far
    rules::server_info info_;
    std::array<std::string, rules::loaded_scripts> hashes_;
    backoff delay_{connection::longest_pause};
    time_point reachable_since_{};
    bool resumes_ = false; ///< the server has closed an idle connection: another one is on its way
    std::string resumed_run_id_;
    std::vector<std::shared_ptr<pending_call>> waiting_; ///< for that connection
    std::unique_ptr<timer> timer_;                       ///< until the next attempt
    std::unique_ptr<connection> connection_;
    subscriptions messages_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace paddock::redis
