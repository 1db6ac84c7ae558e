#pragma once

#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>

#include <memory>
#include <string>

namespace paddock {

class client;

namespace detail {
class watch_latch;
}

/// What happened to a watched node.
enum class watch_event {
    created,  ///< it exists now
    deleted,  ///< it is gone
    changed,  ///< its data was set
    children, ///< a child was created or deleted
};

/// A latched one-shot notification. It exists before the read that arms it is sent, and keeps what
/// happened until somebody asks, so nothing can be missed between the two:
///
///     paddock::watch changed(zk);
///     auto now = co_await zk.get("/config", changed);
///     ...
///     co_await changed.event();   // completes at once if it has happened meanwhile
///
/// A watch is armed by one successful read and serves once. It survives reconnects. Distinct
/// objects: any thread. One object: not from two threads at once.
class watch {
public:
    explicit watch(const client& zk);
    watch(watch&&) noexcept;
    watch& operator=(watch&&) noexcept;
    ~watch(); ///< disarms; a pending event() completes with asio::error::operation_aborted

    /// Waits for the event.
    ///
    /// Completion signature: `void(error_code, watch_event)`.
    /// Errors: what the read failed with; `errc::session_expired` and `errc::closed` when the watch
    /// died with its session. Before a read has armed it, it waits for that too.
    /// Cancellation safety: total and terminal; the event stays latched for another call.
    /// Executor: the handler's, by default the client's. One call at a time: a second one ends the
    /// first with `asio::error::operation_aborted`.
    template <asio::completion_token_for<void(error_code, watch_event)> Token = default_token>
    [[nodiscard]] auto event(Token&& token = {}) {
        return detail::initiate<void(error_code, watch_event)>(
            executor(), std::forward<Token>(token), &start_event, latch_);
    }

    /// Whether event() would complete at once.
    bool happened() const noexcept;

private:
    friend class client;
    static void start_event(detail::handler<void(error_code, watch_event)>,
                            std::shared_ptr<detail::watch_latch>);
    asio::any_io_executor executor() const;

    std::shared_ptr<detail::watch_latch> latch_;
};

} // namespace paddock
