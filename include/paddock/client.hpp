#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/client_state.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/error.hpp>
#include <paddock/node_operations.hpp>
#include <paddock/options.hpp>
#include <paddock/statistics.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

class [[gnu::visibility("default")]] client;

/// An application's use of one ZooKeeper ensemble. The client connects when an operation first
/// needs a connection, reconnects by itself, and opens a new session (the next epoch) when its
/// session has expired.
///
/// **For all operations** of a client, and of the objects that use it:
///
/// Completion: every operation completes exactly once. The one exception is the end of the
/// execution context: as with Asio's own objects, the context destroys the handlers of pending
/// operations without calling them, and so does an operation that begins during that destruction or
/// later.
///
/// Completion tokens: the default, `use_awaitable`, is for coroutines of the type
/// `asio::awaitable<T>`; in an `asio::awaitable<T, Executor>` of another executor pass
/// `asio::deferred`. The handler's associated allocator provides an operation's memory. What runs a
/// coroutine of the caller (`with`, `run`, `lead`, `guarded`) takes no token, but is an
/// `asio::awaitable<T>`, for co_spawn with any token: `co_spawn(io, mutex.with(work), use_future)`.
///
/// Cancellation safety: every operation accepts total and terminal cancellation, and then completes
/// with `asio::error::operation_aborted` at once. The ensemble still executes a request that the
/// client has sent before.
///
/// Executor: an operation completes on the handler's associated executor, by default on
/// get_executor(). Inside, the client has one strand of its own on that executor.
///
/// Lifetime: every operation may outlive this object. The destructor closes the client as close()
/// does, in the background. If the executor never runs again, the session and the locks in it may
/// live on until the session times out: `co_await close()` before the end of the program. (The
/// destructor of an execution context with a connected client waits for the server for at most
/// 50 ms.) From its first operation on, an idle client keeps its executor's `io_context::run()`
/// from returning, because it must keep its session alive, until close() or the destructor.
///
/// Thread safety: any thread may use distinct objects. Any number of threads may call the const
/// members and all operations of one object at the same time.
///
/// Fork: the session, and every lock in it, stays with the parent; the child sends nothing, and all
/// its guards are invalid. If the program calls `notify_fork` on the execution context, as Asio
/// requires, the child may use the context again; its copy of the client is closed, and it needs
/// one of its own. Without `notify_fork` the child may only destroy its objects and end, and must
/// not run the context; if other threads of the parent ran it, they may have left Asio's mutexes
/// locked: then the child may destroy guards and tickets, no other object, and must end by `_exit`
/// or become another program. The same is true if another thread was in a call of the client when
/// the process forked. (A child that was not made by fork() does not know that its guards
/// are invalid. fork() waits until no other thread is in the C client, which all clients of a
/// process share.)
///
/// The operations on nodes are those of node_operations.
class client : public node_operations {
public:
    /// Creates a client; does no I/O. `servers` is a list of names or addresses, with ports other
    /// than 2181, and perhaps a root path: `zk1:2182,10.0.0.2,[::1]:2182/app`. Spaces around them,
    /// `zk://` before them, and a comma or `/` at the end change nothing.
    ///
    /// The client tries addresses at once, and each name as soon as Asio has resolved it, in the
    /// one resolver thread of the execution context: a slow name delays the names behind it, and
    /// after close() `io_context::run()` and the context's destructor wait for the name that it is
    /// resolving. Addresses avoid that; `options timeout:1 attempts:1` in resolv.conf limits it.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a malformed list, root or
    /// option, or an empty executor, and with `errc::wrong_c_client` when the process has loaded
    /// libzookeeper_mt instead of libzookeeper_st. The latter cannot happen with a libpaddock.so
    /// that contains its own copy of the C client.
    client(asio::any_io_executor executor, std::string_view servers, client_options options);
    /// As above, with the default options: as a default argument g++ 12 destroys them too early.
    client(asio::any_io_executor executor, std::string_view servers);
    /// As above, with the executor of an execution context (`asio::io_context`, …).
    template <detail::has_executor Context>
    client(Context& context, std::string_view servers, client_options options)
        : client(context.get_executor(), servers, std::move(options)) {}
    template <detail::has_executor Context>
    client(Context& context, std::string_view servers) : client(context.get_executor(), servers) {}
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    /// The present state; next_state() waits for a change.
    client_state state() const noexcept;
    /// The number of sessions so far, including the present one; 0 before the first.
    std::uint64_t epoch() const noexcept;
    /// The id of the present session; 0 if there is none.
    std::int64_t session_id() const noexcept;
    /// The timeout that the ensemble has granted to the present session; 0 if there is none.
    std::chrono::milliseconds session_timeout() const noexcept;

    /// For how long the session, and so every hold in it, is certainly alive if the client receives
    /// no further answer; zero without a session. While the client holds a lock, or waits to be
    /// granted one, it renews that time; an idle client does not, and zero is nothing wrong then.
    std::chrono::nanoseconds lease_remaining() const;
    /// When a server has last answered a request; the clock's epoch if none ever has. While the
    /// client is connected, that is less than 4/25 of the session timeout ago, and a round trip.
    boot_clock::time_point last_answer() const noexcept;
    /// The address and port of the connected server; empty while there is none.
    std::string server() const;

    /// What the client's locks have done so far, and do now: a copy, which never waits for the
    /// client's strand. Up to a megabyte with the most groups of locks; see client_statistics.
    client_statistics statistics() const;
    /// For a supervisor's questions: must the program be restarted, and may it take work? A standby
    /// is ready, too. Call it every few seconds: each call gives the event loop a task, and a later
    /// one tells whether that has run.
    client_health health() const;

    /// Waits until the client is connected. An ensemble that the client cannot reach, or a name
    /// that it cannot resolve, is not an error: see connect_for() and client_options::log. It tries
    /// again and again, and looks names up, after pauses of 0.1 to 2 s.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::closed`, `errc::auth_failed`, and `errc::no_root`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect(Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect, core_);
    }

    /// As connect(), but waits for at most `limit`.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: those of connect(), and `errc::not_connected` when the time has passed. The client
    /// goes on trying to connect.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: see the class.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect_for(const std::chrono::duration<Rep, Period>& limit,
                                   Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect_for, core_,
                                                  detail::limit_of(limit));
    }

    /// As connect_for(), with a point in time of any clock.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                     Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect_for, core_,
                                                  detail::until{deadline});
    }

    /// Replaces the servers of an ensemble that has changed; the session and its locks go on. A
    /// connection to a server that is in the new list, too, stays; any other is given up as soon as
    /// the new names are resolved. `servers` is as in the constructor, by which lock_all() goes on
    /// to order the locks. A name whose addresses change needs no call: see connect().
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a malformed list, or one with
    /// another root than the client's; none is needed. No effect after close().
    void set_servers(std::string_view servers);

    /// Closes the client and ends its session. Every pending operation, and every later one,
    /// completes with `errc::closed`. The client ends the session behind all requests that the
    /// program has made, and close() waits for the server's confirmation: then the ensemble has
    /// deleted the session's ephemeral nodes, and so its locks. close() waits for at most one
    /// second, or for the session timeout if that is shorter. If the server does not answer in
    /// time, or the connection is lost, the ensemble deletes the nodes when the session times out.
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
                                                  &start_close, core_);
    }

    /// Lets the holders finish, then closes: what a service does on SIGTERM. From now on no lock is
    /// granted: calls that wait complete with `errc::draining` at once, and later ones too, but for
    /// those by which the owner of a recursive lock takes it once more. Operations on nodes go on.
    /// When every guard is unlocked or destroyed, and every unlock() has completed, or when `limit`
    /// has passed, the client closes as close() does. What counts as a guard: one that is lost,
    /// too, because its work may go on; a ticket whose lock is granted; and what a lock_all() has
    /// that waits for another client's lock, and fails then. (The work of election::lead is not
    /// told: cancel lead(), or let the limit end it.)
    ///
    /// Completion signature: `void(error_code)`, once the client is closed.
    ///
    /// Errors: `errc::lock_lost` when the limit has passed, or the client is closed otherwise, or
    /// was before, while somebody had a guard, or waited for an unlock(). Those end with
    /// `errc::closed`. Of several calls the earliest limit counts.
    ///
    /// Cancellation safety: total and terminal; ends the wait, not the draining.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto drain(const std::chrono::duration<Rep, Period>& limit, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_drain, core_, detail::limit_of(limit));
    }

    /// Waits until the state differs from `seen`, and returns the new one. It does not report those
    /// that came and went between two calls; epoch() shows whether there was another session.
    ///
    /// Completion signature: `void(error_code, client_state)`.
    ///
    /// Errors: `errc::closed` or `errc::auth_failed`, the reason of the close, when `seen` is
    /// `closed`, the last state; `errc::bad_argument` for a number that is no state; cancellation.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, client_state)> Token = default_token>
    [[nodiscard]] auto next_state(client_state seen, Token&& token = {}) {
        return detail::initiate<void(error_code, client_state)>(
            get_executor(), std::forward<Token>(token), &start_next_state, core_, seen);
    }

private:
    friend struct detail::access;
    explicit client(core_ptr core) noexcept;

    static void start_connect(handler<>, core_ptr);
    static void start_connect_for(handler<>, core_ptr, std::chrono::nanoseconds);
    static void start_close(handler<>, core_ptr);
    static void start_drain(handler<>, core_ptr, std::chrono::nanoseconds);
    static void start_next_state(handler<client_state>, core_ptr, client_state);
};

} // namespace paddock
