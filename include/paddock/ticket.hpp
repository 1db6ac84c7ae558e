#pragma once

#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace paddock {

namespace detail {
class queued;
}

/// A place in the line of a lock, from mutex::enqueue: the two steps of lock(), with a look at the
/// line in between. Move-only; dropping it leaves the line, and gives back a lock that was granted
/// and not asked for. An empty ticket (default constructed, moved from, or after acquired()) throws
/// `system_error` with `errc::bad_argument` from its operations.
///
/// Thread safety: position() may be called from any thread; a ticket may be moved and destroyed on
/// any thread; its operations one at a time.
class [[nodiscard]] ticket {
public:
    ticket() noexcept = default;
    ticket(ticket&&) noexcept = default;
    ticket& operator=(ticket&&) noexcept;
    ~ticket();

    explicit operator bool() const noexcept { return queued_ != nullptr; }

    /// How many contenders stand in the way; 0 when the lock is granted, or next. As this client
    /// has heard: who leaves from the middle of the line is noticed late. Reads one atomic.
    std::size_t position() const noexcept;

    /// Who holds the lock, with its metadata; nothing if nobody does. Reads from the ensemble.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`. Errors: `zk_errc`,
    /// `errc::closed`. Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto holder(Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            executor(), std::forward<Token>(token), &start_holder, queued_);
    }

    /// Waits until position() is another than it was at the call, and says what it is. As long as
    /// somebody waits for this the client watches the first in the line as well, which costs one
    /// watch, and one listing for each contender that goes.
    ///
    /// Completion signature: `void(error_code, std::size_t)`. Errors: what acquired() would say.
    /// Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code, std::size_t)> Token = default_token>
    [[nodiscard]] auto next_change(Token&& token = {}) {
        return detail::initiate<void(error_code, std::size_t)>(
            executor(), std::forward<Token>(token), &start_next_change, queued_);
    }

    /// Waits for the lock. The ticket is empty from the call on.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors: as mutex::lock. Cancellation
    /// safety: total and terminal; leaves the line.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto acquired(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(executor(), std::forward<Token>(token),
                                                         &start_acquired, std::move(*this));
    }

    /// For the locks of this library.
    explicit ticket(std::shared_ptr<detail::queued> place) noexcept;

private:
    using queued_ptr = std::shared_ptr<detail::queued>;

    asio::any_io_executor executor() const;
    static void start_holder(detail::handler<void(error_code, std::optional<contender>)>,
                             queued_ptr);
    static void start_next_change(detail::handler<void(error_code, std::size_t)>, queued_ptr);
    static void start_acquired(detail::handler<void(error_code, guard)>, ticket);

    queued_ptr queued_;
};

} // namespace paddock
