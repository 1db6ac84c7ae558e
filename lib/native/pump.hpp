#pragma once

#include "native/calls.hpp"
#include "native/connection_attempts.hpp"
#include "native/server_list.hpp"
#include "support/backoff.hpp"
#include "support/environment.hpp"
#include "support/log.hpp"

#include <paddock/error.hpp>
#include <paddock/tls.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::native {

/// Credentials that the C client sends again on every connection.
struct auth_info {
    std::string scheme;
    std::string credentials;
};

struct pump_options {
    std::vector<server_address> servers;
    std::chrono::milliseconds session_timeout{10'000};
    std::vector<auth_info> auth;
    paddock::tls tls{};
};

/// Receives the events of a pump, on the strand and within the pump's turn. It may make requests
/// from within; a close() takes effect when the turn ends.
class pump_user {
public:
    /// A connection is established: submit() works. `connection` counts the connections, from 1.
    virtual void on_connected(std::uint64_t connection) noexcept = 0;
    /// The connection is lost. Each request in flight has completed, or will soon complete, with an
    /// error that says so. Called once for each on_connected().
    virtual void on_disconnected() noexcept = 0;
    /// The session has ended (errc::session_expired, errc::auth_failed): close the pump.
    virtual void on_session_ended(error_code why) noexcept = 0;
    virtual void on_watch(watch_type type, std::string_view path) noexcept = 0;
    /// The turn is about to send the requests that were made since the last one: those that are
    /// made from within leave with them.
    virtual void on_sending() noexcept = 0;
    /// In a pass over all servers more than half of them have closed the connection in its
    /// handshake: they serve nobody, or not this session.
    virtual void on_refused() noexcept = 0;
    /// A problem for an administrator: an unresolvable name, no server that answers.
    virtual void on_trouble(log_code code, std::string_view what) noexcept = 0;

protected:
    ~pump_user() = default;
};

/// Drives the C client: waits for its socket and its timeout, calls interest() and process(), and
/// reports the connections of one session. Another session needs another pump. Strand only. After
/// close() the pump uses neither the user nor the environment.
class pump final : public std::enable_shared_from_this<pump>, private observer {
public:
    pump(environment& env, std::unique_ptr<calls> table, pump_options options, pump_user& user);
    ~pump();

    /// Resolves the servers and connects, again and again, until close(). The first attempt starts
    /// as soon as the address of one server is known.
    void start();

    /// Makes one request of so many bytes: calls `make` with the table and returns its code.
    /// Without a connection it returns invalid_state and does not call `make`.
    template <typename Make>
    int submit(Make&& make, std::size_t bytes = 0) {
        if (!ready()) return code::invalid_state;
        const int rc = make(*calls_);
        largest_request_ = std::max(largest_request_, bytes);
        after_submit();
        return rc;
    }

    /// Calls on_sending() behind the tasks that the user has posted so far.
    void schedule_turn();

    bool ready() const noexcept; ///< connected, and neither breaking the connection nor closing
    std::int64_t session_id() const noexcept { return session_id_; }
    std::chrono::milliseconds session_timeout() const noexcept { return session_timeout_; }
    /// When the handshake of the connection began: the leader has renewed the session since.
    boot_clock::time_point connected_since() const noexcept { return adopted_at_; }

    std::string server() const; ///< the address of the connected one
    /// After a connection that lived so long the next one is made at once: at most one a second.
    static constexpr std::chrono::seconds steady_after{1};
    /// So many that broke before that are no accident any more; fewer could be one server's
    /// restart.
    static constexpr int enough_short_lives = 5;
    /// Whether the last few connections have broken before that.
    bool unsteady() const noexcept { return short_lives_ >= enough_short_lives; }
    /// Between two passes over the servers, and between two look-ups of names: so late a client can
    /// notice that they are back. Shorter, and thousands of clients burden a server that starts.
    static constexpr std::chrono::seconds longest_pause{2};
    /// After a connection that broke soon. A trade: less tries servers that break each connection
    /// more often, more leaves the leases of holds without proofs for longer.
    static constexpr std::chrono::milliseconds longest_short_pause{250};

    std::size_t known_servers() const noexcept {
        return (new_known_ ? *new_known_ : known_).size();
    }

    /// Breaks the present connection, not the session, and connects to another server.
    void drop_connection();
    /// The connected server does not answer. If others are known, the same; else looks the names up
    /// again, and leaves a server that is no longer among their addresses.
    void suspect_server();
    /// Begins the next pass over the servers at once.
    void retry_now();
    /// Replaces the servers. The connection stays if its server is among the new ones.
    void set_servers(std::vector<server_address> servers);

    /// Ends the session: sends CloseSession behind all requests, and waits for at most a second
    /// until the server closes the connection. Then calls `ended`, from within if there is no
    /// connection. Open requests complete with code::closing. Begins when the pump's turn ends; the
    /// user gets no further events.
    void end_session(unique_function<void()> ended);

    /// Likewise, but does not wait for an event: see calls::close(). May be called after
    /// end_session(), too. Idempotent.
    void close() noexcept;

private:
    class turn_scope;

    // From the C client.
    void on_session_event(int new_state) noexcept override;
    void on_watch(watch_type type, std::string_view path) noexcept override;
    void on_error_line(std::string_view line) noexcept override;
    void on_tls_trouble(log_code code, std::string_view what) noexcept override;

    // Servers and session (pump.cpp).
    void look_up();
    void servers_looked_up(const server_endpoints& known);
    void update_servers(const std::vector<std::string>& endpoints);
    void leave_unlisted();
    void open(const std::vector<std::string>& endpoints);
    void apply_new_servers();
    void attempt_failed();
    std::string fault(const failed_pass& pass) const;
    void arm_lookup_timer();
    void note_life();
    void report_down() noexcept;
    bool grants_session() const noexcept;
    void replace_handle(boot_clock::time_point now);
    void begin_session_end();
    void end_session_step();
    void finish_close() noexcept;

    // The turn (pump_turn.cpp).
    bool stopped() const noexcept { return closing_ || session_ended_; }
    void after_submit();
    void on_socket_ready(unsigned events);
    void turn();
    unsigned overdue_events(boot_clock::time_point now);
    void drain(unsigned events, boot_clock::time_point now);
    void no_packet_read(boot_clock::time_point now);
    void purge(boot_clock::time_point now);
    void give_up_slow_attempt(boot_clock::time_point now);
    bool probe_instead(boot_clock::time_point now);
    void follow_interest(boot_clock::time_point now);
    interest_result next_interest();
    bool adopt(descriptor connection, boot_clock::time_point now);
    void release_closed();
    void release_connection();
    void wait_for(unsigned events);
    void break_and_process();
    void send_probe();
    void sleep_until(boot_clock::time_point when);

    environment& env_;
    std::unique_ptr<calls> calls_;
    pump_options options_;
    pump_user& user_;

    server_list servers_;
    std::vector<std::string> known_;                    ///< the C client's server list
    std::map<std::string, std::string> hosts_;          ///< of those, in the user's list
    std::optional<std::vector<std::string>> new_known_; ///< the next server list, sorted
    connection_attempts attempts_;
    bool leaves_unlisted_ = false;        ///< a connected server, too, that has left the list
    std::unique_ptr<timer> lookup_timer_; ///< see arm_lookup_timer()
    bool lookup_timer_armed_ = false;
    backoff lookup_delay_{longest_pause};

    bool open_ = false;
    bool up_ = false;          ///< between on_connected() and on_disconnected()
    bool has_session_ = false; ///< the present connection has had one
    bool session_ended_ = false;
    bool granted_nothing_ = false;     ///< the server: see replace_handle()
    bool dropping_connection_ = false; ///< the C client has yet to notice the broken connection
    bool poisoned_ = false; ///< the C client closed the connection without an event: see purge()
    bool stalled_ = false;  ///< the event loop ran late before this turn
    bool in_turn_ = false;
    bool turn_scheduled_ = false;
    bool closing_ = false;
    bool closed_ = false;
    unique_function<void()> on_ended_; ///< end_session()'s handler
    unsigned pending_events_ = 0;      ///< the next turn processes these first

    std::unique_ptr<timer> timer_;
    std::optional<boot_clock::time_point> wakes_at_;
    backoff failure_delay_;
    backoff pass_delay_{longest_pause};
    backoff short_life_delay_{longest_short_pause};
    int short_lives_ = 0;                               ///< consecutive connections
    std::size_t largest_request_ = 0;                   ///< on them
    std::optional<boot_clock::time_point> rests_until_; ///< until then it does not connect
    descriptor connection_;
    std::unique_ptr<readiness> readiness_;
    bool reading_ = false; ///< waits for the socket to become readable
    bool writing_ = false;
    int empty_reads_ = 0; ///< consecutive reads that completed no packet
    std::optional<boot_clock::time_point> throttled_since_;
    std::optional<boot_clock::time_point> probing_until_;

    boot_clock::time_point last_packet_{};
    boot_clock::time_point adopted_at_{};
    std::uint64_t connections_ = 0;
    std::int64_t session_id_ = 0;
    std::chrono::milliseconds session_timeout_{0};
};

} // namespace paddock::native
