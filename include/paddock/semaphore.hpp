#pragma once

#include <paddock/client.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/mutex.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

namespace detail {
struct lease_lock;
}

/// Who uses a semaphore, as the ensemble has it.
struct semaphore_state {
    std::int32_t permits = 0;           ///< how many there are
    std::vector<contender> leases{};    ///< one for each permit that is taken
    std::vector<contender> acquiring{}; ///< who wants permits, in order
};

/// A semaphore over all processes that use the same ensemble and path: at no time are there more
/// leases than permits. Who comes first is served first, also when it wants more than who comes
/// later. Node names are those of Curator's InterProcessSemaphoreV2, so both share the permits of
/// one path; with one permit it is Curator's InterProcessSemaphoreMutex.
///
/// Several permits are taken all or none. Curator takes them one by one: programs that take several
/// with Curator can wait for each other, and for this one, until their time is up.
///
/// A guard holds all permits that it was acquired with, and gives them back together. It is lost
/// when one of its lease nodes is. Leases of one semaphore overlap, so there is no order in which a
/// fencing token could grow: guard::fencing_token() is zero.
///
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime: the semaphore and its client may be destroyed while operations are pending and guards
/// are held; operations of a destroyed client complete with `errc::closed`.
/// Thread safety: operations may be called from any thread at any time.
class semaphore {
public:
    /// Does no I/O. Uses the nodes `locks` and `leases` below `path`, which is below the client's
    /// root; what is missing is created when it is needed. Throws `system_error` with
    /// `errc::bad_argument` for a path, number (less than one) or option that is not acceptable.
    semaphore(const client& zk, std::string_view path, std::int32_t permits,
              semaphore_options options);
    /// With the default options: the number of permits is fixed.
    semaphore(const client& zk, std::string_view path, std::int32_t permits);

    asio::any_io_executor get_executor() const;

    /// Waits for one permit.
    ///
    /// Completion signature: `void(error_code, guard)`.
    /// Errors: the `zk_errc` with which the ensemble refused (`no_auth` above all;
    /// `data_inconsistency`: the counter is none); `errc::sequence_exhausted`;
    /// `errc::session_expired` and `errc::over_budget` if the options say so (`over_budget` also
    /// for more permits than a client can ever hold); `errc::closed`; `errc::auth_failed`. A lost
    /// connection is not an error, nor is an expired session: who waits keeps its place, or queues
    /// again.
    /// Cancellation safety: total and terminal; completes with `asio::error::operation_aborted` at
    /// once, and its nodes are deleted in the background. A guard that was granted first is
    /// delivered.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquire(Token&& token = {}) {
        return acquire(1, std::forward<Token>(token));
    }

    /// Waits for so many permits, all or none; one guard holds them. Throws `system_error` with
    /// `errc::bad_argument` when `count` is less than one, or greater than a fixed number of
    /// permits. With a counter it waits until there are so many, and everybody behind it, too.
    ///
    /// Completion signature, errors and cancellation safety: as acquire().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquire(std::int32_t count, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_acquire, impl_, count);
    }

    /// Takes the permits if they are free and nobody waits; else completes with an empty guard, and
    /// nothing was written. What is found may be old by a moment, see
    /// semaphore_options::sync_first.
    ///
    /// Throws as acquire(count). Completion signature: `void(error_code, guard)`. Errors: those of
    /// acquire(), and `errc::not_connected` at once when the client is not connected.
    /// Cancellation safety: as acquire().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire(std::int32_t count, Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_try_acquire, impl_, count);
    }

    /// Waits for the permits, at most this long; then completes with an empty guard, and none of
    /// them. The limit bounds everything: connecting, retries, waiting. With zero or less it is a
    /// try_acquire() that does not mind not being connected.
    ///
    /// Throws as acquire(count). Completion signature, errors and cancellation safety: as
    /// acquire().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_for(std::int32_t count, std::chrono::nanoseconds limit,
                                       Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(
            executor_for(count), std::forward<Token>(token), &start_try_acquire_for, impl_, count,
            limit);
    }

    /// As try_acquire_for, with a point in time.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_acquire_until(std::int32_t count,
                                         std::chrono::steady_clock::time_point deadline,
                                         Token&& token = {}) {
        return try_acquire_for(count, deadline - std::chrono::steady_clock::now(),
                               std::forward<Token>(token));
    }

    /// Sets the counter, and creates it if it is missing. A greater number wakes whoever waits for
    /// it; a smaller one takes nothing away, but nobody gets a permit before enough were given
    /// back. Zero lets nobody in. Throws `system_error` with `errc::bad_argument` for a negative
    /// number, and when the number of permits is fixed.
    ///
    /// Completion signature: `void(error_code)`. Errors: the `zk_errc` with which the ensemble
    /// refused, `errc::outcome_unknown`, `errc::closed`. Cancellation safety: total and terminal; a
    /// change that was sent is made all the same.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto set_permits(std::int32_t permits, Token&& token = {}) {
        return detail::initiate<void(error_code)>(executor_for_setting(permits),
                                                  std::forward<Token>(token), &start_set_permits,
                                                  impl_, permits);
    }

    /// How many permits there are, who has them, and who wants some, with what they wrote into
    /// their nodes. The first that acquires may have leases already, and wait for more room. One
    /// burst of reads; who goes meanwhile is left out.
    ///
    /// Completion signature: `void(error_code, semaphore_state)`. Errors: `zk_errc`,
    /// `errc::closed`. Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code, semaphore_state)> Token = default_token>
    [[nodiscard]] auto state(Token&& token = {}) {
        return detail::initiate<void(error_code, semaphore_state)>(
            get_executor(), std::forward<Token>(token), &start_state, impl_);
    }

private:
    using impl_ptr = std::shared_ptr<const detail::lease_lock>;

    asio::any_io_executor executor_for(std::int32_t count) const;
    asio::any_io_executor executor_for_setting(std::int32_t permits) const;
    static void start_acquire(detail::handler<void(error_code, guard)>, impl_ptr, std::int32_t);
    static void start_try_acquire(detail::handler<void(error_code, guard)>, impl_ptr, std::int32_t);
    static void start_try_acquire_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                      std::int32_t, std::chrono::nanoseconds);
    static void start_set_permits(detail::handler<void(error_code)>, impl_ptr, std::int32_t);
    static void start_state(detail::handler<void(error_code, semaphore_state)>, impl_ptr);

    impl_ptr impl_;
};

} // namespace paddock
