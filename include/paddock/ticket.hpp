#pragma once

#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace paddock {

namespace detail {
class ticket_state;
}

class [[gnu::visibility("default")]] ticket;

/// A position in the queue of a lock, from mutex::enqueue(), shared_mutex::enqueue() or
/// enqueue_shared(), semaphore::enqueue(). The ticket splits lock(), or acquire(), into two steps,
/// with a view of the queue in between. Move-only. The destructor leaves the queue, and releases a
/// lock, or permits, granted before acquired() was called. An empty ticket (default constructed,
/// moved from, or after acquired()) completes its operations with `errc::bad_argument`, as an empty
/// guard does.
///
/// A contender that must queue again, because its session has expired or its node was deleted, has
/// a new position.
///
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a ticket may outlive its lock and its client.
///
/// Thread safety: any number of threads may call position() at the same time. Any thread may move
/// and destroy a ticket or call its operations, but only one thread at a time.
class [[nodiscard]] ticket {
public:
    ticket() noexcept = default;
    ticket(ticket&&) noexcept = default;
    ticket& operator=(ticket&&) noexcept;
    ~ticket();

    /// Whether the ticket has a position in the queue, or a lock or permits that were granted to
    /// it.
    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// The number of contenders before this one, as far as the client knows; 0 when the lock is
    /// granted, or this contender is the next. The client learns late of a contender that leaves
    /// the middle of the queue. Reads one atomic.
    ///
    /// Of a semaphore: the number of contenders that wait before this one, whatever number of
    /// permits they want. Holders of permits have left the queue. So it is also 0 while this
    /// contender is the first that waits, and too few permits are free.
    std::size_t position() const noexcept;

    /// Reads from the ensemble which contender holds the lock, with its metadata; nothing if none
    /// does. If readers share the lock it is the first of them.
    ///
    /// Of a semaphore: the first of semaphore_state::holders, which is the owner of the permit that
    /// was taken first; semaphore::state() has all of them. The first contender that waits may own
    /// some permits already, so it can be this one.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto holder(Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            executor(), std::forward<Token>(token), &start_holder, state_);
    }

    /// Waits until position() differs from its value at the call, and returns the new value. During
    /// the wait the client also watches the first contender in the queue, which costs one watch,
    /// and one listing for each contender that leaves.
    ///
    /// Completion signature: `void(error_code, std::size_t)`.
    ///
    /// Errors: those of acquired(); `asio::error::operation_aborted` when meanwhile the ticket is
    /// destroyed, or acquired() delivers the lock.
    ///
    /// Cancellation safety: total and terminal; the contender keeps its position.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, std::size_t)> Token = default_token>
    [[nodiscard]] auto next_change(Token&& token = {}) {
        return detail::initiate<void(error_code, std::size_t)>(
            executor(), std::forward<Token>(token), &start_next_change, state_);
    }

    /// Waits for the lock, or for the permits, which one guard holds. The ticket is empty from the
    /// call on.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(), or semaphore::acquire(); `errc::lock_lost` when the lock was
    /// granted, or the permits were, and lost before the call.
    ///
    /// Cancellation safety: total and terminal; the contender leaves the queue.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquired(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(executor(), std::forward<Token>(token),
                                                         &start_acquired, std::move(*this));
    }

private:
    friend struct detail::access;
    using state_ptr = std::shared_ptr<detail::ticket_state>;

    explicit ticket(state_ptr state) noexcept;

    asio::any_io_executor executor() const noexcept;
    static void start_holder(detail::handler<void(error_code, std::optional<contender>)>,
                             state_ptr);
    static void start_next_change(detail::handler<void(error_code, std::size_t)>, state_ptr);
    static void start_acquired(detail::handler<void(error_code, guard)>, ticket);

    state_ptr state_;
};

} // namespace paddock
