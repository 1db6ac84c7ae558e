#pragma once

#include "support/environment.hpp"

#include <paddock/log.hpp>
#include <paddock/tls.hpp>
#include <paddock/znode.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace paddock::native {

/// Return codes of the C client that the pump acts on. It passes every other code through.
namespace code {
inline constexpr int ok = 0;
inline constexpr int system_error = -1;
inline constexpr int runtime_inconsistency = -2;
inline constexpr int connection_loss = -4;
inline constexpr int operation_timeout = -7;
inline constexpr int bad_arguments = -8;
inline constexpr int invalid_state = -9;
inline constexpr int closing = -116;
inline constexpr int nothing = -117;
} // namespace code

/// ZooKeeper's own, which always exists: for requests of which only the answer matters.
inline constexpr const char* known_node = "/zookeeper";

/// States of a C client handle, numbered as in zookeeper.h; `securing` is one of phase() only.
namespace state {
inline constexpr int not_connected =
    999; ///< before the first connection, or after a connection closed without an event
inline constexpr int idle = 0; ///< between two attempts
inline constexpr int connecting = 1;
inline constexpr int associating = 2;
inline constexpr int connected = 3;
inline constexpr int securing = 7; ///< TLS's handshake, before that of the session
inline constexpr int expired = -112;
inline constexpr int auth_failed = -113;
} // namespace state

/// The conditions that interest() asks for and process() gets; combine them with `|`.
namespace event {
inline constexpr unsigned readable = 1;
inline constexpr unsigned writable = 2;
} // namespace event

/// The type of a watch event, numbered as in zookeeper.h.
enum class watch_type {
    created = 1,
    deleted = 2,
    changed = 3,
    child = 4,
    session = -1,
    removed = -2
};

/// The answer to a request. Everything it points to lives only during completion::complete().
struct reply {
    int rc = 0;
    std::string_view value{};                    ///< the path of create and sync, the data of get
    const node_stat* stat = nullptr;             ///< if the call returns one and succeeded
    std::span<const char* const> names{};        ///< of children
    std::span<const acl_entry> entries{};        ///< of get_acl
    std::span<const operation_result> results{}; ///< of a multi that was executed
    int refused_step = -1; ///< of a refused multi: the index of the first step that failed
};

/// Receives the answer to a request. Once a call has returned ok the table owns the completion,
/// calls complete() exactly once, never from within the call itself, and then destroys it.
/// complete() must not throw and must not call interest(), process() or close().
class completion {
public:
    virtual ~completion() = default;
    virtual void complete(const reply& answer) noexcept = 0;
};

template <typename F>
std::unique_ptr<completion> on_reply(F f) {
    struct function final : completion {
        explicit function(F&& g) : f_(std::move(g)) {}
        void complete(const reply& answer) noexcept override { f_(answer); }
        F f_;
    };
    return std::make_unique<function>(std::move(f));
}

/// Receives session and watch events, from within interest() and process() only.
class observer {
public:
    virtual void on_session_event(int new_state) noexcept = 0;
    virtual void on_watch(watch_type type, std::string_view path) noexcept = 0;
    /// The C client has logged an ERROR line that break_connection() did not cause.
    virtual void on_error_line(std::string_view /*line*/) noexcept {}
    /// Likewise, of an encrypted connection: what has happened, in words.
    virtual void on_tls_trouble(log_code /*code*/, std::string_view /*what*/) noexcept {}

protected:
    ~observer() = default;
};

/// What interest() wants the pump to wait for.
struct interest_result {
    int rc = 0;
    descriptor connection{}; ///< invalid: wait for the timeout only
    unsigned events = 0;
    std::chrono::milliseconds timeout{0};
};

/// How connections are encrypted.
struct encryption {
    environment& env; ///< has the network
    tls how;
    /// The name or address that stands in the server list for this server, `ip:port`.
    std::function<std::string(const std::string& endpoint)> host_of;
};

/// The calls of the ZooKeeper C client that paddock uses, for one handle: one of the two interfaces
/// that a simulation replaces (the other is paddock::environment). Every request either returns ok
/// and takes the completion over, or returns an error and destroys the completion uncalled.
/// Requests may be delayed until flush(). Not thread-safe: strand only.
class calls {
public:
    using done = std::unique_ptr<completion>;

    virtual ~calls() = default;

    /// All connections shall be encrypted; before open().
    virtual void encrypt(encryption how) = 0;
    /// Creates the handle. `servers` is a list of numeric addresses, `ip:port,…`.
    virtual bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
                      observer& events) = 0;
    /// One step of ending the session: sends the delayed requests, then CloseSession, and frees the
    /// handle, which completes all open requests with code::closing. Later steps read and discard
    /// what the server sends until it closes the connection: closing a socket with unread data
    /// resets the connection, and the server may then never read the CloseSession. Returns what to
    /// wait for before the next step; without a connection the end is reached, or the server cannot
    /// be reached. Never blocks.
    virtual interest_result end_session() noexcept = 0;
    /// Ends the session as far as possible without an event loop, closes the connection and frees
    /// the handle. Blocks until the server has closed the connection, for at most 50 ms after the
    /// CloseSession was sent. In a forked child of the process that opened the handle it sends and
    /// reads nothing.
    virtual void close() noexcept = 0;

    virtual interest_result interest() = 0;
    virtual int process(unsigned events) = 0;
    /// Sends the requests since the last flush(), in as few packets as possible.
    virtual void flush() noexcept = 0;
    /// Shuts the C client's socket down. The C client notices that in process().
    virtual void break_connection() noexcept = 0;

    virtual int state() const noexcept = 0;
    /// How far an attempt to connect is; while it is `securing` the state is `connecting`.
    virtual int phase() const noexcept { return state(); }
    virtual std::int64_t session_id() const noexcept = 0;
    virtual std::chrono::milliseconds session_timeout() const noexcept = 0; ///< as negotiated
    /// The server of the present attempt or connection, `ip:port`.
    virtual std::string server() const = 0;
    /// Replaces the servers. Only while not connected: it closes a connection without an event.
    virtual int set_servers(const std::string& servers) = 0;
    virtual int add_auth(const std::string& scheme, const std::string& credentials,
                         done reply_to) = 0;

    virtual int create(const std::string& path, std::string_view data, const create_options& how,
                       done reply_to) = 0;
    virtual int get(const std::string& path, bool watch, done reply_to) = 0;
    virtual int exists(const std::string& path, bool watch, done reply_to) = 0;
    virtual int children(const std::string& path, bool watch, done reply_to) = 0;
    virtual int set(const std::string& path, std::string_view data, std::int32_t version,
                    done reply_to) = 0;
    virtual int remove(const std::string& path, std::int32_t version, done reply_to) = 0;
    virtual int sync(const std::string& path, done reply_to) = 0;
    virtual int get_acl(const std::string& path, done reply_to) = 0;
    virtual int set_acl(const std::string& path, const acl& entries, std::int32_t version,
                        done reply_to) = 0;
    virtual int multi(std::span<const operation> steps, done reply_to) = 0;
    /// Removes every watch of the path, in the client and on the server.
    virtual int remove_watches(const std::string& path, done reply_to) = 0;
};

/// The calls of the system's C client.
std::unique_ptr<calls> make_c_client();

} // namespace paddock::native
