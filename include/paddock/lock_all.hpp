#pragma once

#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/mutex.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace paddock {

namespace detail {
class joint;
struct joint_plan;
} // namespace detail

/// The handle of several holds that were taken together, by lock_all. Move-only. An empty set
/// (default constructed, moved from, or from a try_lock_all_for that was too late) holds nothing;
/// its waiting operations throw `system_error` with `errc::bad_argument`.
///
/// Thread safety and lifetime: as guard's.
class [[nodiscard]] guard_set {
public:
    guard_set() noexcept = default;
    guard_set(guard_set&&) noexcept = default;
    /// Releases what this set held, as the destructor does.
    guard_set& operator=(guard_set&&) noexcept;
    /// Releases all locks in the background, the last taken first.
    ~guard_set();

    /// Whether there are holds, lost or not.
    explicit operator bool() const noexcept { return !guards_.empty(); }

    /// Whether all of them are held, as far as this process knows; false for an empty set.
    bool valid() const noexcept;

    std::size_t size() const noexcept { return guards_.size(); }
    /// The guard of the mutex that was number `i` of the arguments.
    const guard& operator[](std::size_t i) const { return guards_[places_[i]]; }

    /// Waits until the first of the holds is over, and says why. The others go on: only when the
    /// set is released are they.
    ///
    /// Completion signature, cancellation safety, executor: as guard::lost().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto lost(Token&& token = {}) const {
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_lost, joint_);
    }

    /// Releases all locks, the last taken first, and waits until all their nodes are gone. The set
    /// is empty from the call on.
    ///
    /// Completion signature: `void(error_code)`.
    /// Errors: those of guard::unlock(); `errc::lock_lost` if it is true of any of the holds.
    /// Cancellation safety: total and terminal; ends the waiting, never the deletes.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto unlock(Token&& token = {}) {
        // The set itself goes along: if the operation is never started, it releases all the same.
        return detail::initiate<void(error_code)>(executor(), std::forward<Token>(token),
                                                  &start_unlock, std::move(*this));
    }

    /// For lock_all. The guards stand in the order in which they were taken.
    guard_set(std::shared_ptr<detail::joint> ends, std::vector<guard> guards,
              std::vector<std::size_t> places) noexcept;

private:
    using joint_ptr = std::shared_ptr<detail::joint>;

    asio::any_io_executor executor() const;
    static void start_lost(detail::handler<void(error_code)>, joint_ptr);
    static void start_unlock(detail::handler<void(error_code)>, guard_set);

    joint_ptr joint_;
    std::vector<guard> guards_;
    std::vector<std::size_t> places_;
};

namespace detail {
using plan_ptr = std::shared_ptr<const joint_plan>;
plan_ptr plan_lock_all(const std::vector<mutex>& mutexes);
asio::any_io_executor executor_of(const plan_ptr& plan);
void start_lock_all(handler<void(error_code, guard_set)>, plan_ptr);
void start_try_lock_all_for(handler<void(error_code, guard_set)>, plan_ptr,
                            std::chrono::nanoseconds);
} // namespace detail

/// Waits until it has all of the locks. They are taken one after the other, in the order of their
/// full paths (the client's root, the mutex's path, its name), whatever the order of the arguments:
/// so no two processes that take several locks in this way can wait for each other. They may belong
/// to different clients, also of different ensembles; equal paths of different ensembles are
/// ordered by the servers' names, so give them the same names everywhere.
///
/// All or nothing: should one of them be lost while the next is waited for, all are given back, and
/// it begins again.
///
/// With g++ 12 give the vector a name before you await: it destroys braced temporaries in the wrong
/// place when there is a co_await in the same expression.
///
/// Throws `system_error` with `errc::bad_argument` for no mutexes at all, and when two of them are
/// the same lock, which would wait for itself.
/// Completion signature: `void(error_code, guard_set)`.
/// Errors: those of mutex::lock(), the first that one of them reports; `errc::session_expired` if
/// the options of one of them say so.
/// Cancellation safety: total and terminal; completes with `asio::error::operation_aborted` at
/// once, and what was taken is given back in the background.
/// Executor: the handler's, by default that of the client whose lock is taken first. Lifetime and
/// thread safety: as mutex::lock().
template <asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto lock_all(const std::vector<mutex>& mutexes, Token&& token = {}) {
    auto plan = detail::plan_lock_all(mutexes);
    auto executor = detail::executor_of(plan);
    return detail::initiate<void(error_code, guard_set)>(
        std::move(executor), std::forward<Token>(token), &detail::start_lock_all, std::move(plan));
}

/// As lock_all, but waits at most this long, for all of them together; then completes with an empty
/// set. With zero or less it takes them only if all are free.
template <asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto try_lock_all_for(const std::vector<mutex>& mutexes,
                                    std::chrono::nanoseconds limit, Token&& token = {}) {
    auto plan = detail::plan_lock_all(mutexes);
    auto executor = detail::executor_of(plan);
    return detail::initiate<void(error_code, guard_set)>(
        std::move(executor), std::forward<Token>(token), &detail::start_try_lock_all_for,
        std::move(plan), limit);
}

/// As try_lock_all_for, with a point in time.
template <asio::completion_token_for<void(error_code, guard_set)> Token = default_token>
[[nodiscard]] auto try_lock_all_until(const std::vector<mutex>& mutexes,
                                      std::chrono::steady_clock::time_point deadline,
                                      Token&& token = {}) {
    return try_lock_all_for(mutexes, deadline - std::chrono::steady_clock::now(),
                            std::forward<Token>(token));
}

} // namespace paddock
