#pragma once

#include "redis/rules/resp.hpp"
#include "redis/rules/url.hpp"
#include "support/environment.hpp"

#include <paddock/tls.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace paddock::redis {

/// The time limits and the budget of a connection. The shorter the limits, the more often a server
/// that is only slow loses its connection. The longer they are, the later another connection
/// carries the renewals: with the usual ttl of 10 s a guard is valid for 9 s after one, and the
/// next one, due after 3.3 s, is given up after 7.4 s.
struct connection_limits {
    /// For each address of the server. A lost SYN is sent again after a second.
    std::chrono::milliseconds connect{2'000};
    std::chrono::milliseconds answer{4'000};  ///< for TLS's handshake, and for each command
    std::chrono::milliseconds silence{3'000}; ///< then the server gets a PING
    /// Of commands that the system does not take; see client_options::max_bytes_queued.
    std::size_t unsent_bytes = 1024 * 1024;
    std::string name = "paddock"; ///< of connections for scripts: CLIENT SETNAME
    paddock::tls tls{};           ///< for a server with `tls`
};

/// Why a connection has ended.
enum class ending {
    lost,    ///< trouble that may be over at the next try
    refused, ///< the server is there, and does not want us, or cannot be used
};

/// One connection to a Redis server, over TCP or TLS, from the look-up of its name to its one end.
/// It authenticates itself, sends commands without waiting for replies, and gives each reply to its
/// command. It sends PING when it hears nothing, and ends when a reply takes too long. Strand only;
/// every callback may destroy it. No text has the password in it.
class connection {
public:
    using time_point = boot_clock::time_point;
    using words = std::vector<std::string>;
    /// What the server said to a command that was sent then; nothing if the connection has ended
    /// before: whether the server has executed the command is unknown.
    using replied = unique_function<void(std::optional<rules::reply>, time_point sent)>;

    /// One that was open for so long was healthy: the next attempt is made soon after its end. A
    /// server that ends idle connections (`timeout`) waits for a second at least.
    static constexpr std::chrono::milliseconds proof_time{500};
    /// Between two attempts: a guard may depend on it that a server is back.
    static constexpr std::chrono::seconds longest_pause{2};

    class user {
    public:
        /// The connection is ready for commands.
        virtual void on_open() = 0;
        /// A message of a channel, on a connection that subscribes to channels.
        virtual void on_message(const std::string& channel, const std::string& text) = 0;
        /// Once. The commands that are not answered are told afterwards.
        virtual void on_end(ending how, const std::string& why) = 0;

    protected:
        ~user() = default;
    };

    enum class kind { commands, subscriber };

    /// Begins to connect. The user is informed later, until the destructor.
    connection(environment& env, rules::server where, kind what, const connection_limits& limits,
               user& informs);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Sends a command with exactly one reply: a subscription has one channel. The first one leaves
    /// at once; those of one turn of the event loop that follow leave together. False: the
    /// connection is not open, or its budget is used up; the callback then stays with the caller.
    bool send(const words& command, replied&& done);
    /// Ends the connection soon, for this reason; no reply is given to its command any more.
    void give_up(ending how, std::string why);

    /// Whether it has ended, and no command was without its reply.
    bool ended_idle() const noexcept { return ended_idle_; }

    bool is_open() const noexcept { return stage_ == stage::open && !given_up_; }
    /// How long a reply takes, PING's as well: of some replies rather the shortest than the
    /// average. Zero before the first.
    boot_clock::duration round_trip() const noexcept { return round_trip_; }

private:
    enum class stage { connecting, greeting, open, ended };
    struct reason {
        ending how;
        std::string why;
    };
    struct command {
        time_point queued, sent;
        replied done;
    };

    // connect.cpp
    void resolve();
    void try_next_address();
    void on_connected(const boost::system::error_code& error);
    void secure();
    void on_secured(const boost::system::error_code& error);
    void greet();
    void open();
    void greeted(const char* step, const std::optional<rules::reply>& said, bool is_last);

    bool queue(const words& command, replied&& done);
    void flush();
    void flush_behind();
    void write();
    void read();
    void on_read(const boost::system::error_code& error, std::string_view bytes);
    static bool is_tls_alert(std::string_view bytes) noexcept;
    bool is_message(const rules::reply& said) const;
    void deliver(rules::reply said);
    void broken(const boost::system::error_code& error);
    void measure(boot_clock::duration sample);
    std::string shown(std::string text) const;
    void watch_time();
    void on_time();
    void end(ending how, const std::string& why);
    unique_function<void()> guarded(unique_function<void()> task) const;

    environment& env_;
    const rules::server where_;
    const kind kind_;
    const connection_limits limits_;
    user& user_;
    stage stage_ = stage::connecting;
    std::vector<std::string> addresses_; ///< that are not tried yet, the next one last
    std::string address_;                ///< that is tried now
    std::string problem_;                ///< of the last address that was tried
    std::unique_ptr<stream> stream_;
    std::unique_ptr<timer> timer_;
    rules::reply_reader reader_;
    std::deque<command> open_;  ///< commands without a reply
    std::size_t unsent_ = 0;    ///< so many of them, the last ones, are in `out_`
    std::string out_;           ///< leaves with the next write
    std::size_t in_flight_ = 0; ///< bytes of the present write
    std::optional<reason> given_up_;
    bool flush_posted_ = false;
    bool ended_idle_ = false;
    bool overdue_ = false; ///< the first reply is late; it may wait in the system's buffer
    time_point heard_{};   ///< the server has sent something, or the connection was made
    bool has_spoken_ = false;
    boot_clock::duration round_trip_{};
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace paddock::redis
