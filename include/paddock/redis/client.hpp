#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/error.hpp>
#include <paddock/log.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>
#include <paddock/tls.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

/// Locks on Redis, behind the same guard: a key with a time to live, on one server, or on more than
/// half of several independent ones (Redlock).
namespace paddock::redis {

namespace detail {
class core;
}

/// The options of a client of Redis servers.
struct client_options {
    /// The time to live of a lock's key. The client renews a held key from a third of it on. A
    /// guard is valid for nine tenths of it after the request of the last confirmed renewal: the
    /// rest is for servers whose clocks run fast. At least 100 ms, at most `max_ttl`.
    std::chrono::milliseconds ttl{10'000};
    /// The longest `ttl` of all clients of these servers, on which they all must agree: a server
    /// that has lost its data grants no lock for so long, because a lock that it has forgotten may
    /// still be held. So does a server that is used for the first time, counted from the first
    /// request for a lock: meanwhile lock() waits, and for try_lock() the lock is taken. At most a
    /// day. A server's `repl-backlog-ttl` (an hour, unless it is set) must be zero or at least as
    /// long: else a server that was a replica for a moment can forget that it was one, and grant a
    /// lock that it has lost. With more than an hour, a server also grants no lock for so long
    /// after its first replica has come, or its last one has long been gone. To change `max_ttl`,
    /// or the number of servers, end all clients, wait for the longer one, and delete the key
    /// `paddock:server` everywhere.
    std::chrono::milliseconds max_ttl{60'000};
    /// With `true` a server without the mark of an earlier use (`paddock:server`) is not waited
    /// for: the first request of this client makes it old enough for all clients. It must be the
    /// first client that asks for a lock, because a wait that has begun is not cut short. (If the
    /// servers have no locks yet, end all clients, and delete the key `paddock:server`.) Only for
    /// servers that were just set up, and in tests: with it, two clients can hold a lock after a
    /// server has lost all its data.
    bool trust_new_servers = false;
    /// How long a new hold is certainly valid. Zero stands for a quarter of `ttl`, at most a half.
    std::chrono::milliseconds min_validity{0};
    /// Bytes that wait to be sent to one server at most, 64 KiB or more; a request beyond them
    /// fails as if the server could not be reached.
    std::size_t max_bytes_queued = 4 * 1024 * 1024;
    /// Who this client is, for administrators: its connections have the name `paddock`, or
    /// `paddock:` and this text, in CLIENT LIST. At most 64 printable ASCII characters, no space.
    std::string label{};
    /// How connections to servers with `rediss://` are encrypted, and whom they trust. Without it
    /// the system's authorities are trusted, and the client has no certificate.
    paddock::tls tls{};
    /// As paddock::client_options::log: servers that cannot be reached, or must not be used.
    log_function log{};
    /// As paddock::client_options::observer.
    std::shared_ptr<paddock::observer> observer{};
};

class [[gnu::visibility("default")]] client;

/// The connections to the servers that have the locks: one server, or an odd number of independent
/// masters (Redis 5 and later; no cluster, no replicas). With one server, a lock is as safe as its
/// memory: with several, it survives the loss of fewer than half of them.
///
/// **Not promised**, and a fencing token is the answer to all of it: two clients can hold one lock
/// after the clock of a server was set, after an administrator deleted a key, when the clients'
/// lists of servers differ, when two masters of one data set both believe in themselves, after
/// SWAPDB was called twice, after DEBUG RELOAD NOSAVE, after CONFIG RESETSTAT on a server that has
/// evicted keys, when a server has evicted the key of another program, and when other programs use
/// the key without a time to live of their own.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on
/// get_executor(). Inside, the client has one strand of its own on that executor.
///
/// Lifetime: every operation may outlive this object. The destructor closes the client as close()
/// does, in the background. From its first operation on, a client keeps its executor's
/// `io_context::run()` from returning, until close() or the destructor.
///
/// Thread safety: any thread may use distinct objects. Any number of threads may call all
/// operations of one object at the same time.
///
/// Fork: as paddock::client; every lock stays with the parent.
class client {
public:
    /// Creates a client; does no I/O. `url` is `redis://[user:password@]host[:port][/database]`,
    /// and perhaps more servers, separated by commas; `rediss://` instead stands for TLS. What the
    /// first entry says about scheme, user, password and database is true for every entry that does
    /// not say it: servers with and without TLS may stand in one list. In user and password, `%`
    /// and two hexadecimal digits stand for any byte; an IPv6 address stands in brackets. Spaces
    /// around the entries, and a comma behind the last one, change nothing.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a URL or an option that is not
    /// acceptable (an even number of servers is not, nor is `client_options::tls` if no server has
    /// TLS), or an empty executor.
    client(asio::any_io_executor executor, std::string_view url, client_options options);
    /// As above, with the default options.
    client(asio::any_io_executor executor, std::string_view url);
    /// As above, with the executor of an execution context (`asio::io_context`, …).
    template <paddock::detail::has_executor Context>
    client(Context& context, std::string_view url, client_options options)
        : client(context.get_executor(), url, std::move(options)) {}
    template <paddock::detail::has_executor Context>
    client(Context& context, std::string_view url) : client(context.get_executor(), url) {}
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    using executor_type = asio::any_io_executor;
    /// Never throws; a client that was moved from has no executor.
    executor_type get_executor() const noexcept;

    /// As paddock::client::statistics(), for each server.
    client_statistics statistics() const;
    /// As paddock::client::health(). Ready: more than half of the servers can be used.
    client_health health() const;

    /// Waits until more than half of the servers are connected. After a break, each server is tried
    /// again after 0.1 s at most, and then more and more rarely, every 2 s at last.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::auth_failed` when so many servers refuse the credentials, or give them too
    /// few rights, that the others are too few; `errc::unsuitable_server` when so many are no
    /// masters, members of a cluster, older than Redis 5, may evict keys, are listed twice, or do
    /// not agree with the client about TLS (certificates, versions): the log says which and why.
    /// `errc::options_mismatch` when so many are used by clients with another `max_ttl`, or another
    /// number of servers; nothing is set, so a server that has granted no lock yet has no
    /// objection. After each of these the client goes on trying. `errc::closed`.
    ///
    /// Cancellation safety: total and terminal; the client goes on connecting.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect(Token&& token = {}) {
        return paddock::detail::initiate<void(error_code)>(
            get_executor(), std::forward<Token>(token), &start_connect, core_);
    }

    /// As connect(), but waits for at most `limit`.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: those of connect(), and `errc::not_connected` when the time has passed.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as connect().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect_for(const std::chrono::duration<Rep, Period>& limit,
                                   Token&& token = {}) {
        return paddock::detail::initiate<void(error_code)>(
            get_executor(), std::forward<Token>(token), &start_connect_for, core_,
            paddock::detail::limit_of(limit));
    }

    /// Closes the client: every pending operation, and every later one, completes with
    /// `errc::closed`, and its locks are released. close() waits until the servers have confirmed
    /// that, for at most one second; a key that is left disappears at the end of its time to live.
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
        return paddock::detail::initiate<void(error_code)>(
            get_executor(), std::forward<Token>(token), &start_close, core_);
    }

    /// Lets the holders finish, then closes: what a service does on SIGTERM. From now on no lock is
    /// granted: calls that wait complete with `errc::draining` at once, and later ones too, but for
    /// those by which the owner of a recursive lock takes it once more.
    /// When every guard is unlocked or destroyed, and every unlock() has completed, or when `limit`
    /// has passed, the client closes as close() does. What counts as a guard: one that is lost,
    /// too, because its work may go on; a ticket whose lock is granted; and what a lock_all() has
    /// that waits for another client's lock, and fails then.
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
        return paddock::detail::initiate<void(error_code)>(get_executor(),
                                                           std::forward<Token>(token), &start_drain,
                                                           core_, paddock::detail::limit_of(limit));
    }

private:
    friend struct paddock::detail::access;
    using core_ptr = std::shared_ptr<detail::core>;

    explicit client(core_ptr core) noexcept;

    static void start_connect(paddock::detail::handler<void(error_code)>, core_ptr);
    static void start_connect_for(paddock::detail::handler<void(error_code)>, core_ptr,
                                  std::chrono::nanoseconds);
    static void start_close(paddock::detail::handler<void(error_code)>, core_ptr);
    static void start_drain(paddock::detail::handler<void(error_code)>, core_ptr,
                            std::chrono::nanoseconds);

    core_ptr core_;
};

} // namespace paddock::redis
