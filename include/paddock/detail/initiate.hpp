#pragma once

#include <paddock/detail/boost_version.hpp>
#include <paddock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace paddock {

namespace asio = boost::asio;

/// What an operation returns when no completion token is given: an awaitable.
using default_token = asio::use_awaitable_t<>;

namespace detail {

/// An execution context with an executor: `asio::io_context`, `asio::thread_pool`, …
template <typename Context>
concept has_executor = std::convertible_to<Context&, asio::execution_context&> &&
    requires(Context& context) {
    context.get_executor();
};

template <typename Signature>
using handler = asio::any_completion_handler<Signature>;

/// Posts the task, if `Known` is the executor inside of `executor`. Without it the way to there is
/// over another thread, and may be longer than the life of the execution context.
template <typename Known, typename Executor, typename Task>
bool post_if(const Executor& executor, Task& task) {
    if constexpr (requires { executor.template target<Known>(); }) {
        const auto* const inside = executor.template target<Known>();
        if (inside) asio::post(*inside, std::move(task));
        return inside != nullptr;
    }
    return false;
}

/// The code with which an operation of an empty object completes.
[[gnu::visibility("default")]] error_code empty_object() noexcept;

/// Completes an operation of an empty object, on the handler's associated executor.
template <typename Handler, typename... Result>
void refuse(Handler&& h, void (*)(error_code, Result...)) {
    const auto executor = asio::get_associated_executor(h);
    const auto memory = asio::get_associated_allocator(h);
    auto call = [user = std::forward<Handler>(h)]() mutable {
        std::move(user)(empty_object(), Result()...);
    };
    using never = asio::execution::blocking_t::never_t;
    if constexpr (asio::can_require_v<std::remove_const_t<decltype(executor)>, never>) {
        asio::post(executor, asio::bind_allocator(memory, std::move(call)));
    } else { // of an any_completion_handler, or the user's own: the executor has no such property
        auto task = asio::bind_allocator(memory, std::move(call));
        using io = asio::io_context::executor_type;
        if (post_if<io>(executor, task) || post_if<asio::strand<io>>(executor, task) ||
            post_if<asio::strand<asio::any_io_executor>>(executor, task))
            return;
        const auto work = asio::prefer(executor, asio::execution::outstanding_work.tracked);
        asio::post(asio::system_executor(), [work, task = std::move(task)]() mutable {
            asio::dispatch(work, std::move(task));
        });
    }
}

/// Hands the completion handler, its type erased, to a function in the library. It knows its
/// executor, so that token adapters can find one before there is a handler. `on` is the inside of
/// the object; without one the object is empty, and the operation is refused.
template <typename Signature, typename Start>
struct initiation {
    asio::any_io_executor executor;
    Start start;

    using executor_type = asio::any_io_executor;
    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler, typename Inside, typename... Args>
    void operator()(Handler&& h, Inside&& on, Args&&... args) {
        if (!on) return refuse(std::forward<Handler>(h), std::add_pointer_t<Signature>());
        start(handler<Signature>(std::forward<Handler>(h)), std::forward<Inside>(on),
              std::forward<Args>(args)...);
    }
};

/// Turns a completion token into an erased handler and calls `start(handler, args...)`, whose first
/// argument is the inside of the object.
template <typename Signature, typename Token, typename Start, typename... Args>
auto initiate(asio::any_io_executor executor, Token&& token, Start start, Args&&... args) {
    if (!executor) executor = asio::system_executor(); // of an empty object
    return asio::async_initiate<Token, Signature>(
        initiation<Signature, Start>{std::move(executor), start}, token,
        std::forward<Args>(args)...);
}

} // namespace detail
} // namespace paddock
