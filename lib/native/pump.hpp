#pragma once

#include "native/attempts.hpp"
#include "native/backoff.hpp"
#include "native/calls.hpp"
#include "native/server_list.hpp"
#include "support/environment.hpp"

#include <paddock/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::native {

/// Credentials that are given again on every connection.
struct auth_info {
    std::string scheme;
    std::string credentials;
};

struct pump_options {
    std::vector<server_address> servers;
    std::chrono::milliseconds session_timeout{10'000};
    std::vector<auth_info> auth;
};

/// Who uses a pump. Every call comes on the strand, from the pump's own turn: requests may be made
/// from within, close() only takes effect when the turn ends.
class pump_user {
public:
    /// A connection is up: requests go through. `connection` grows with each one, from 1.
    virtual void on_connected(std::uint64_t connection) noexcept = 0;
    /// The connection is lost; every request that was under way has been, or is about to be,
    /// completed with an error that says so. Called once for each on_connected.
    virtual void on_disconnected() noexcept = 0;
    /// The session is over (errc::session_expired, errc::auth_failed): close the pump.
    virtual void on_session_over(error_code why) noexcept = 0;
    virtual void on_watch(watch_type type, std::string_view path) noexcept = 0;
    /// Something that an administrator should know: an unresolvable name, a full failed pass.
    virtual void on_trouble(std::string_view what) noexcept = 0;

protected:
    ~pump_user() = default;
};

/// Turns the C client's event loop: waits for its socket, gives it time, and makes one session's
/// connection out of what the C client does with its own. One pump is one session; whoever wants
/// another session makes another pump. Strand only. After close() neither the user nor the
/// environment is touched any more.
class pump final : public std::enable_shared_from_this<pump>, private observer {
public:
    pump(environment& env, std::unique_ptr<calls> table, pump_options options, pump_user& user);
    ~pump();

    /// Resolves the servers and connects, again and again, until close().
    void start();

    /// Makes one request: `make` gets the table and returns the call's code. What it returns is the
    /// result, or invalid_state when there is no connection (then `make` is not called).
    template <typename Make>
    int submit(Make&& make) {
        if (!ready()) return code::invalid_state;
        const int rc = make(*calls_);
        after_submit();
        return rc;
    }

    bool ready() const noexcept; ///< connected, and not about to be closed
    std::int64_t session_id() const noexcept { return session_id_; }
    std::chrono::milliseconds session_timeout() const noexcept { return session_timeout_; }
    /// When the connection's handshake was begun: the session was touched no earlier than this.
    boot_clock::time_point connected_since() const noexcept { return adopted_at_; }

    /// How many there are to choose from.
    std::size_t known_servers() const noexcept { return known_.size(); }

    /// Gives up the present connection (not the session) and looks for another server.
    void drop_connection();

    /// Ends the session, if possible by telling the server, without blocking. Requests that are
    /// still open complete with code::closing: from within, unless the pump is in its turn, whose
    /// end is waited for then. Idempotent; the user hears nothing afterwards, but for those
    /// completions.
    void close() noexcept;

private:
    class turn_scope;

    // From the C client.
    void on_session_event(int new_state) noexcept override;
    void on_watch(watch_type type, std::string_view path) noexcept override;

    // Servers and session (pump.cpp).
    void look_up();
    void looked_up(server_endpoints answer);
    void open(const std::vector<std::string>& endpoints);
    void apply_new_servers();
    void attempt_failed();
    void raise_alarm();
    void report_down() noexcept;
    void finish_close() noexcept;

    // The turn (pump_turn.cpp).
    bool stopped() const noexcept { return closing_ || over_; }
    void kick();
    void after_submit();
    void hear(unsigned events);
    void turn();
    unsigned overdue_events(boot_clock::time_point now);
    void drain(unsigned events, boot_clock::time_point now);
    void heard_nothing(boot_clock::time_point now);
    void purge(boot_clock::time_point now);
    void give_up_slow_attempt(boot_clock::time_point now);
    bool probe_instead(boot_clock::time_point now);
    void settle(boot_clock::time_point now);
    wish ask();
    bool adopt(descriptor connection, boot_clock::time_point now);
    void let_go();
    void listen(unsigned events);
    void break_and_notice();
    void send_probe();
    void sleep_until(boot_clock::time_point when);

    environment& env_;
    std::unique_ptr<calls> calls_;
    pump_options options_;
    pump_user& user_;

    server_list servers_;
    std::vector<std::string> known_;                    ///< what the C client has
    std::optional<std::vector<std::string>> new_known_; ///< what it gets between two attempts
    attempts attempts_;
    std::unique_ptr<timer> alarm_; ///< the next look-up, or the next complaint
    bool alarm_armed_ = false;
    backoff alarm_delay_;

    bool open_ = false;
    bool up_ = false;       ///< the user was told on_connected last
    bool over_ = false;     ///< the session is
    bool dropping_ = false; ///< the connection is broken, though the C client has yet to notice
    bool poisoned_ = false; ///< the C client has closed it without a word: see purge()
    bool stalled_ = false;  ///< the event loop has not run for a while before this turn
    bool in_turn_ = false;
    bool kicked_ = false;
    bool closing_ = false;
    bool closed_ = false;
    unsigned more_ = 0; ///< events that the next turn is to begin with

    std::unique_ptr<timer> timer_;
    std::optional<boot_clock::time_point> wakes_at_;
    backoff failure_delay_;
    descriptor connection_;
    std::unique_ptr<readiness> readiness_;
    bool reading_ = false; ///< a wait is under way
    bool writing_ = false;
    int nothing_ = 0; ///< turns in a row that found the socket readable, and no packet
    std::optional<boot_clock::time_point> crawling_since_;
    std::optional<boot_clock::time_point> probing_until_;

    boot_clock::time_point last_heard_{};
    boot_clock::time_point adopted_at_{};
    std::uint64_t connections_ = 0;
    std::int64_t session_id_ = 0;
    std::chrono::milliseconds session_timeout_{0};
};

} // namespace paddock::native
