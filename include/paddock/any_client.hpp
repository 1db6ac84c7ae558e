#pragma once

#include <paddock/any_lock_family.hpp>
#include <paddock/any_mutex.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/error.hpp>
#include <paddock/log.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>
#include <paddock/tls.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

class [[gnu::visibility("default")]] lock_system;
class [[gnu::visibility("default")]] any_client;

/// A system that has locks, as a library adds one: see register_scheme(). It is like a client of
/// paddock: its destructor closes it in the background, its locks may outlive it, and any thread
/// may call any function.
class lock_system {
public:
    virtual ~lock_system();

    virtual asio::any_io_executor get_executor() const noexcept = 0;
    virtual any_mutex mutex(std::string_view name) const = 0;
    virtual any_lock_family lock_family(std::string_view name) const = 0;

    using handler = asio::any_completion_handler<void(error_code)>;
    /// Calls the handler once, and never from within.
    virtual void connect(std::chrono::nanoseconds limit, handler done) = 0;
    virtual void close(handler done) = 0;
    /// As client::drain(); a system that does not override it closes at once.
    virtual void drain(std::chrono::nanoseconds limit, handler done);
    /// As client::statistics(); empty if a system does not override it.
    virtual client_statistics statistics() const;
    /// As client::health(); a system that does not override it is always ready.
    virtual client_health health() const;
};

/// The options that all systems have in common, and those of one that code for any system may have
/// to set. What is zero, empty or false is left as the system has it.
struct any_client_options {
    /// Until when a lock stays with a client that is dead: the session timeout of ZooKeeper, the
    /// `ttl` on Redis.
    std::chrono::milliseconds timeout{0};
    /// redis::client_options::trust_new_servers: the servers were just set up, or it is a test.
    bool trust_new_servers = false;
    /// client_options::create_root, of ZooKeeper: the path at the end of the URL need not exist.
    bool create_root = false;
    /// As client_options::tls and redis::client_options::tls.
    paddock::tls tls{};
    /// As client_options::log.
    log_function log{};
    /// As client_options::observer.
    std::shared_ptr<paddock::observer> observer{};
};

/// Makes the system that a URL names; throws `system_error` with `errc::bad_argument` for a URL
/// that is not acceptable.
using open_system = std::function<std::shared_ptr<lock_system>(
    asio::any_io_executor executor, std::string_view url, const any_client_options& options)>;

/// From now on any_client passes URLs with this scheme (`mem` for `mem://…`) to `open`. The
/// function replaces an earlier one; it may be called on any thread, and several threads may call
/// it at a time. Any thread may register a scheme.
///
/// Errors: throws `system_error` with `errc::bad_argument` for an empty function, and for a scheme
/// that is not a lower-case letter and then lower-case letters, digits, `+`, `-` and `.`
/// (RFC 3986).
[[gnu::visibility("default")]] void register_scheme(std::string scheme, open_system open);

/// A client of the system that a URL names, for code that reads the URL from its configuration:
///
///     zk://zk1:2181,zk2:2181/app       paddock::client (also zookeeper://…)
///     redis://10.0.0.1:6379            redis::client (Meson feature `redis`; also rediss://)
///     and those of register_scheme()
///
/// any_mutex says what differs. For options that any_client_options lacks, make a client of the
/// system yourself; its mutexes convert to any_mutex. Or register a lock_system that makes them,
/// also for `redis`, `zk` or `zookeeper` instead of the library's own.
///
/// Executor, lifetime, thread safety: as paddock::client.
class any_client {
public:
    /// Creates a client; does no I/O.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a URL without a scheme, with one
    /// that is not known, or that its system does not accept, for an option that it does not
    /// accept, and for an empty executor.
    any_client(asio::any_io_executor executor, std::string_view url, any_client_options options);
    /// As above, with the default options.
    any_client(asio::any_io_executor executor, std::string_view url);
    /// As above, with the executor of an execution context (`asio::io_context`, …).
    template <detail::has_executor Context>
    any_client(Context& context, std::string_view url, any_client_options options)
        : any_client(context.get_executor(), url, std::move(options)) {}
    template <detail::has_executor Context>
    any_client(Context& context, std::string_view url) : any_client(context.get_executor(), url) {}

    using executor_type = asio::any_io_executor;
    /// Never throws; a client that was moved from has no executor.
    executor_type get_executor() const noexcept;

    /// The mutex with this name; does no I/O. For ZooKeeper the name is a path: one that begins
    /// with
    /// `/` is a name in both systems.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a name that the system does not
    /// accept, and for a client that was moved from.
    any_mutex mutex(std::string_view name) const;
    /// The mutexes of this family; does no I/O. For ZooKeeper the name is a path. On Redis the lock
    /// of a key is that of redis::lock_family with the name and a `/`.
    ///
    /// Errors: as mutex().
    any_lock_family lock_family(std::string_view name) const;

    /// As client::statistics().
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a client that was moved from.
    client_statistics statistics() const;
    /// As client::health().
    ///
    /// Errors: as statistics().
    client_health health() const;

    /// Waits until the client is connected.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: those of the system's client.
    ///
    /// Cancellation safety: total and terminal; the client goes on connecting.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect(Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect, system_, detail::longest_limit);
    }

    /// As connect(), but waits for at most `limit`.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: those of connect(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as connect().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect_for(const std::chrono::duration<Rep, Period>& limit,
                                   Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect, system_, detail::limit_of(limit));
    }

    /// Closes the client, and releases its locks.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: none but cancellation.
    ///
    /// Cancellation safety: total and terminal; ends the wait, not the close.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto close(Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_close, system_);
    }

    /// Lets the holders finish, for at most this time, then closes: client::drain().
    ///
    /// Completion signature: `void(error_code)`, once the client is closed.
    ///
    /// Errors: `errc::lock_lost` when the limit has passed while somebody had a guard.
    ///
    /// Cancellation safety: total and terminal; ends the wait, not the draining.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto drain(const std::chrono::duration<Rep, Period>& limit, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_drain, system_, detail::limit_of(limit));
    }

private:
    using system_ptr = std::shared_ptr<lock_system>;

    static void start_connect(detail::handler<void(error_code)>, system_ptr,
                              std::chrono::nanoseconds);
    static void start_close(detail::handler<void(error_code)>, system_ptr);
    static void start_drain(detail::handler<void(error_code)>, system_ptr,
                            std::chrono::nanoseconds);

    system_ptr system_;
};

} // namespace paddock
