#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>

#include <memory>
#include <string>

namespace paddock {

class client;

namespace detail {
class watch_latch;
}

/// The event of a watched node.
enum class watch_event {
    created,  ///< a client created the node
    deleted,  ///< a client or the end of a session deleted the node
    changed,  ///< a client set the node's data
    children, ///< the node's list of children changed
};

class [[gnu::visibility("default")]] watch;

/// A latched one-shot notification. The watch exists before the client sends the read that arms it,
/// and it keeps the event until a call of event() takes it. So a program cannot miss an event
/// between the read and the wait:
///
///     paddock::watch changed(zk);
///     auto now = co_await zk.get("/config", changed);
///     ...
///     co_await changed.event();   // completes at once if the event has happened meanwhile
///
/// One successful read arms the watch, which then reports one event. It survives reconnects. A read
/// completes with `errc::bad_argument`, and the client sends nothing, when the watch belongs to
/// another client, has served another read, or was moved from.
///
/// Lifetime: a watch may outlive its client.
///
/// Thread safety: any thread may use distinct objects. Only one thread at a time may use one
/// object.
class watch {
public:
    explicit watch(const client& zk);
    explicit watch(const client&&) = delete; ///< a temporary client would close too early
    watch(watch&&) noexcept;
    watch& operator=(watch&&) noexcept;
    /// Disarms the watch. A pending event() completes with `asio::error::operation_aborted`.
    ~watch();

    /// Waits for the event; before a read has armed the watch, it waits for that read as well. One
    /// call at a time: a second call completes the first with `asio::error::operation_aborted`.
    ///
    /// Completion signature: `void(error_code, watch_event)`.
    ///
    /// Errors: the error of the read that failed to arm the watch; `errc::session_expired` and
    /// `errc::closed` when the watch ended with its session; `errc::bad_argument` when the watch
    /// was moved from.
    ///
    /// Cancellation safety: total and terminal; the event stays latched for another call.
    ///
    /// Executor: the handler's associated executor, by default the client's.
    ///
    /// Lifetime and thread safety: see the class.
    template <asio::completion_token_for<void(error_code, watch_event)> Token = default_token>
    [[nodiscard]] auto event(Token&& token = {}) {
        return detail::initiate<void(error_code, watch_event)>(
            executor(), std::forward<Token>(token), &start_event, latch_);
    }

    /// Whether event() would complete at once. Reads one atomic.
    bool happened() const noexcept;

private:
    friend struct detail::access;
    static void start_event(detail::handler<void(error_code, watch_event)>,
                            std::shared_ptr<detail::watch_latch>);
    asio::any_io_executor executor() const noexcept;

    std::shared_ptr<detail::watch_latch> latch_;
};

} // namespace paddock
