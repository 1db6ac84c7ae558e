#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/detail/with.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

namespace detail {

/// An operation keeps its arguments, because a lazy token starts it later: of a text, a copy.
template <typename Argument>
Argument keep(Argument argument) {
    return argument;
}
inline std::string keep(std::string_view text) { return std::string(text); }

} // namespace detail

/// The forms in which a lock is taken: every lock class has the operations of this base, which
/// calls its start_… functions. The class comment of a lock says what they mean for it.
///
///     paddock::guard hold = co_await mutex.lock();
///     co_await mutex.with(work);
///
/// `Leading` are the arguments that all operations of the class take before their others: none; the
/// key of a family, `co_await family.lock(key)`; the owner of a recursive lock,
/// `co_await recursive.try_lock_for(me, 5s)`.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the lock object and its client while operations are pending and
/// guards hold the lock. An operation copies its arguments, a key too, before it returns. The
/// operations of a destroyed client complete with `errc::closed`, those of an object that was moved
/// from with `errc::bad_argument`.
///
/// Thread safety: any thread may call any operation at any time.
template <typename Lock, typename... Leading>
class lockable {
public:
    /// Waits for the lock. A lost connection is not an error: the caller keeps its position in the
    /// queue and waits. An expired session is not an error either, unless the options of the lock
    /// say so: the caller queues again in the next session.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those that the class lists; `errc::closed`; `errc::draining` (client::drain);
    /// `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal. The operation completes with
    /// `asio::error::operation_aborted` at once, and the client removes in the background what it
    /// may have left on the servers. If the grant came first, the operation delivers the guard.
    /// first_of() cancels the loser, and a guard that arrives too late releases itself. (Asio's
    /// `||` waits for one *success*: after a failure of lock() it waits for the other operation.)
    /// For a time limit use try_lock_for().
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock(Leading... leading, Token&& token = {}) const {
        return initiate(std::forward<Token>(token), detail::access::start_lock<Lock>,
                        detail::keep(leading)...);
    }

    /// Takes the lock if it is free; otherwise completes with an empty guard. The answer may be
    /// stale by a moment.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected` at once when the client is not connected:
    /// a new client connects with its first operation, so `co_await zk.connect_for(5s)` before.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock(Leading... leading, Token&& token = {}) const {
        return initiate(std::forward<Token>(token), detail::access::start_try_lock<Lock>,
                        detail::keep(leading)...);
    }

    /// Waits for the lock for at most `limit`. Then the operation completes with an empty guard. If
    /// the client is not connected, it completes with `errc::not_connected`, unless the client has
    /// seen that the lock is taken (and, on ZooKeeper, its lease has not lapsed since). The limit
    /// includes connecting, retries and waiting. Every duration is valid; one that is too long for
    /// a clock means no limit. With zero or less the operation is a try_lock().
    ///
    /// The result is also empty if the servers have not answered in time that the lock is free.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of lock(), and `errc::not_connected`.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as lock().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_for(Leading... leading,
                                    const std::chrono::duration<Rep, Period>& limit,
                                    Token&& token = {}) const {
        return initiate(std::forward<Token>(token), detail::access::start_try_lock_for<Lock>,
                        detail::keep(leading)..., detail::limit_of(limit));
    }

    /// As try_lock_for(), with a point in time of any clock. A later change of that clock's time
    /// has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_until(Leading... leading,
                                      const std::chrono::time_point<Clock, Duration>& deadline,
                                      Token&& token = {}) const {
        return initiate(std::forward<Token>(token), detail::access::start_try_lock_for<Lock>,
                        detail::keep(leading)..., detail::until{deadline});
    }

    /// Waits for the lock, runs a coroutine under it, releases the lock, and waits for that as
    /// guard::unlock() does: the first choice for most programs, because a destructor cannot wait.
    ///
    ///     const auto work = [&](paddock::guard& held) -> asio::awaitable<int> { … };
    ///     const int left = co_await mutex.with(work);
    ///
    /// Name the work first: g++ 12 destroys a temporary lambda with captures twice when the same
    /// expression contains a co_await, without a warning.
    ///
    /// `work` gets the guard if it takes an argument; it may unlock it. It runs as in guard::run(),
    /// and with() returns its result, also when the client could not confirm the release: the
    /// client repeats the release in the background. A result does not say that the caller held the
    /// lock to the end: work that can outlast a loss takes the guard, and asks valid() last. Work
    /// that takes the same lock again waits for itself, unless the lock is recursive.
    ///
    /// Errors: those of lock(); those of guard::run(), after the release; `errc::bad_argument` for
    /// an empty function. (With others use first_of(): Asio's `||` waits for a success, so in
    /// `with(work) || timer` it swallows them.)
    ///
    /// Cancellation safety: as lock() before the grant; as guard::run() while the work runs, and
    /// with() then waits for the release all the same; a later cancellation ends that wait. (A
    /// coroutine of `co_spawn` lets only terminal cancellation through, by Asio's default; total
    /// too, if it resets its cancellation state with `asio::enable_total_cancellation`.)
    ///
    /// Executor: that of the coroutine that awaits with(), for the work, too. With several threads
    /// use a strand.
    ///
    /// Lifetime: with() keeps the callable; see the class. Thread safety: see the class.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with(Leading... leading,
                                                                         Work work) const {
        return detail::with<guard>(
            [copy = self(), ... kept = detail::keep(leading)] { return copy.lock(kept...); },
            std::move(work));
    }

    /// As with(), if the lock is free: see try_lock(); it does not wait for a connection either.
    /// Otherwise the work does not run, and the result is empty (an `std::optional` of the work's
    /// result: also of a bool), or false if the work returns nothing.
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>> try_with(Leading... leading,
                                                                                 Work work) const {
        return detail::try_with<guard>(
            [copy = self(), ... kept = detail::keep(leading)] { return copy.try_lock(kept...); },
            std::move(work));
    }

    /// As try_with(), but waits for the lock for at most `limit`: see try_lock_for(). The release
    /// is waited for as well, however long it takes.
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_for(Leading... leading, const std::chrono::duration<Rep, Period>& limit,
                 Work work) const {
        return detail::try_with<guard>(
            [copy = self(), limit, ... kept = detail::keep(leading)] {
                return copy.try_lock_for(kept..., limit);
            },
            std::move(work));
    }

    /// As try_with_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_until(Leading... leading, const std::chrono::time_point<Clock, Duration>& deadline,
                   Work work) const {
        return detail::try_with<guard>(
            [copy = self(), deadline, ... kept = detail::keep(leading)] {
                return copy.try_lock_until(kept..., deadline);
            },
            std::move(work));
    }

protected:
    ~lockable() = default; // of a lock

    const Lock& self() const noexcept { return static_cast<const Lock&>(*this); }

    template <typename Token, typename Start, typename... Args>
    auto initiate(Token&& token, Start start, Args&&... args) const {
        return detail::initiate<void(error_code, guard)>(
            self().get_executor(), std::forward<Token>(token), start,
            detail::access::lock_of(self()), std::forward<Args>(args)...);
    }
};

/// The forms of a lock that any number of callers can share: those of lockable, for the exclusive
/// hold of one caller, and the same again for shared holds.
///
/// **With g++ 12 choose between the two kinds by `if` and `else`.** It miscompiles
/// `co_await (write ? m.lock() : m.lock_shared())`, without a warning: the program crashes, or its
/// heap is damaged.
///
/// A caller with a shared guard that takes the same lock exclusively would wait for itself: it
/// unlocks that guard first, for there is no upgrade.
///
/// Executor, lifetime, thread safety of all operations: see lockable.
template <typename Lock, typename... Leading>
class shared_lockable : public lockable<Lock, Leading...> {
public:
    /// Waits until no exclusive contender is before the caller, and shares the lock with other
    /// readers.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as lockable::lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto lock_shared(Leading... leading, Token&& token = {}) const {
        return this->initiate(std::forward<Token>(token), detail::access::start_lock_shared<Lock>,
                              detail::keep(leading)...);
    }

    /// Shares the lock if no exclusive contender holds it or waits for it; otherwise completes with
    /// an empty guard.
    ///
    /// Everything else: as lockable::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared(Leading... leading, Token&& token = {}) const {
        return this->initiate(std::forward<Token>(token),
                              detail::access::start_try_lock_shared<Lock>,
                              detail::keep(leading)...);
    }

    /// Waits for a shared hold for at most `limit`. With zero or less the operation is a
    /// try_lock_shared().
    ///
    /// Everything else: as lockable::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_lock_shared_for(Leading... leading,
                                           const std::chrono::duration<Rep, Period>& limit,
                                           Token&& token = {}) const {
        return this->initiate(std::forward<Token>(token),
                              detail::access::start_try_lock_shared_for<Lock>,
                              detail::keep(leading)..., detail::limit_of(limit));
    }

    /// As try_lock_shared_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto
    try_lock_shared_until(Leading... leading,
                          const std::chrono::time_point<Clock, Duration>& deadline,
                          Token&& token = {}) const {
        return this->initiate(std::forward<Token>(token),
                              detail::access::start_try_lock_shared_for<Lock>,
                              detail::keep(leading)..., detail::until{deadline});
    }

    /// Waits for a shared hold, runs a coroutine under it, releases it, and waits for the release.
    ///
    /// Everything else: as lockable::with(), with the errors of lock_shared().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::with_result<Work, guard>> with_shared(Leading... leading,
                                                                                Work work) const {
        return detail::with<guard>(
            [copy = this->self(), ... kept = detail::keep(leading)] {
                return copy.lock_shared(kept...);
            },
            std::move(work));
    }

    /// As with_shared(), if no exclusive contender holds the lock or waits: see try_lock_shared().
    /// Otherwise as lockable::try_with().
    template <typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared(Leading... leading, Work work) const {
        return detail::try_with<guard>(
            [copy = this->self(), ... kept = detail::keep(leading)] {
                return copy.try_lock_shared(kept...);
            },
            std::move(work));
    }

    /// As try_with_shared(), but waits for at most `limit`: see try_lock_shared_for().
    template <typename Rep, typename Period, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_for(Leading... leading, const std::chrono::duration<Rep, Period>& limit,
                        Work work) const {
        return detail::try_with<guard>(
            [copy = this->self(), limit, ... kept = detail::keep(leading)] {
                return copy.try_lock_shared_for(kept..., limit);
            },
            std::move(work));
    }

    /// As try_with_shared_for(), with a point in time of any clock.
    template <typename Clock, typename Duration, typename Work>
    [[nodiscard]] asio::awaitable<detail::try_with_result<Work, guard>>
    try_with_shared_until(Leading... leading,
                          const std::chrono::time_point<Clock, Duration>& deadline,
                          Work work) const {
        return detail::try_with<guard>(
            [copy = this->self(), deadline, ... kept = detail::keep(leading)] {
                return copy.try_lock_shared_until(kept..., deadline);
            },
            std::move(work));
    }

protected:
    ~shared_lockable() = default; // of a lock
};

/// A lock, for functions that take one of any class: those of this library, and those that a
/// program has written, such as a fake for its tests.
///
///     asio::awaitable<void> print(const paddock::async_lockable auto& printer, std::string page);
///
/// The leading arguments of the operations are those of the concept, as in
/// `const paddock::async_lockable<std::string_view> auto& family` and
/// `async_lockable<recursive_mutex, owner>`. It asks for the forms of an exclusive hold, with their
/// default token. A function that is no template can take an any_mutex.
template <typename Lock, typename... Leading>
concept async_lockable = requires(const Lock& lock, asio::awaitable<void> (*work)(),
                                  std::chrono::nanoseconds limit,
                                  std::chrono::steady_clock::time_point deadline,
                                  Leading... leading) {
    { lock.get_executor() } -> std::convertible_to<asio::any_io_executor>;
    { lock.lock(leading...) } -> std::same_as<asio::awaitable<guard>>;
    { lock.try_lock(leading...) } -> std::same_as<asio::awaitable<guard>>;
    { lock.try_lock_for(leading..., limit) } -> std::same_as<asio::awaitable<guard>>;
    { lock.try_lock_until(leading..., deadline) } -> std::same_as<asio::awaitable<guard>>;
    { lock.with(leading..., work) } -> std::same_as<asio::awaitable<void>>;
    { lock.try_with(leading..., work) } -> std::same_as<asio::awaitable<bool>>;
    { lock.try_with_for(leading..., limit, work) } -> std::same_as<asio::awaitable<bool>>;
    { lock.try_with_until(leading..., deadline, work) } -> std::same_as<asio::awaitable<bool>>;
};

} // namespace paddock
