#pragma once

#include "support/environment.hpp"

#include <paddock/znode.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace paddock::native {

/// Return codes of the C client that the pump itself acts on. Every other code only passes through.
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

/// States of a C client handle, numbered as in zookeeper.h.
namespace state {
inline constexpr int not_connected = 999; ///< before the first connection, or closed silently
inline constexpr int idle = 0;            ///< between two attempts
inline constexpr int connecting = 1;
inline constexpr int associating = 2;
inline constexpr int connected = 3;
inline constexpr int expired = -112;
inline constexpr int auth_failed = -113;
} // namespace state

/// Which conditions process() is told of, and interest() asks for; add them with `|`.
namespace event {
inline constexpr unsigned readable = 1;
inline constexpr unsigned writable = 2;
} // namespace event

/// What a watch saw, numbered as in zookeeper.h.
enum class watch_type {
    created = 1,
    deleted = 2,
    changed = 3,
    child = 4,
    session = -1,
    removed = -2
};

/// One answer. Everything it points to lives only during completion::complete().
struct reply {
    int rc = 0;
    std::string_view value{};                    ///< the path of create and sync, the data of get
    const node_stat* stat = nullptr;             ///< if the call returns one and succeeded
    std::span<const char* const> names{};        ///< of children
    std::span<const acl_entry> entries{};        ///< of get_acl
    std::span<const operation_result> results{}; ///< of a multi that was executed
    int refused_step = -1; ///< of a multi that was not: the first step that was refused
};

/// Who waits for an answer. Once a call has returned ok the table owns it, and calls complete()
/// exactly once, then destroys it; never from within the call itself. complete() must not throw and
/// must not call interest(), process() or close().
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

/// Who is told of session and watch events; from within interest() and process() only.
class observer {
public:
    virtual void on_session_event(int new_state) noexcept = 0;
    virtual void on_watch(watch_type type, std::string_view path) noexcept = 0;

protected:
    ~observer() = default;
};

/// What interest() wants done next.
struct wish {
    int rc = 0;
    descriptor connection{}; ///< invalid: nothing to wait for but the timeout
    unsigned events = 0;
    std::chrono::milliseconds timeout{0};
};

/// The calls of the ZooKeeper C client that paddock uses, for one handle: one of the two seams (the
/// other is paddock::environment). Every request returns ok and takes the completion over, or
/// returns an error and drops it without calling it. Requests may be held back until flush(). Not
/// thread-safe: strand only.
class calls {
public:
    using done = std::unique_ptr<completion>;

    virtual ~calls() = default;

    /// Makes the handle. `servers` is a list of numeric addresses, `ip:port,…`.
    virtual bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
                      observer& events) = 0;
    /// Ends the session if it can be told at once, and frees the handle without blocking. All
    /// requests that are still open complete with code::closing.
    virtual void close() noexcept = 0;

    virtual wish interest() = 0;
    virtual int process(unsigned events) = 0;
    /// Sends what was held back: the requests since the last flush(), in as few packets as
    /// possible.
    virtual void flush() noexcept = 0;
    /// Breaks the connection under the C client, which then notices by itself in process().
    virtual void break_connection() noexcept = 0;

    virtual int state() const noexcept = 0;
    virtual std::int64_t session_id() const noexcept = 0;
    virtual std::chrono::milliseconds session_timeout() const noexcept = 0; ///< as negotiated
    /// Forgets the servers of before. Only while not connected: it closes a connection silently.
    virtual int set_servers(const std::string& servers) = 0;
    virtual int add_auth(const std::string& scheme, const std::string& credentials, done who) = 0;

    virtual int create(const std::string& path, std::string_view data, const create_options& how,
                       done who) = 0;
    virtual int get(const std::string& path, bool watch, done who) = 0;
    virtual int exists(const std::string& path, bool watch, done who) = 0;
    virtual int children(const std::string& path, bool watch, done who) = 0;
    virtual int set(const std::string& path, std::string_view data, std::int32_t version,
                    done who) = 0;
    virtual int remove(const std::string& path, std::int32_t version, done who) = 0;
    virtual int sync(const std::string& path, done who) = 0;
    virtual int get_acl(const std::string& path, done who) = 0;
    virtual int set_acl(const std::string& path, const acl& entries, std::int32_t version,
                        done who) = 0;
    virtual int multi(std::span<const operation> steps, done who) = 0;
    /// Removes every watch of the path, on both sides.
    virtual int remove_watches(const std::string& path, done who) = 0;
};

/// The calls of the system's C client.
std::unique_ptr<calls> make_c_client();

} // namespace paddock::native
