#pragma once

#include <paddock/detail/boost_version.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace paddock {

namespace asio = boost::asio;

/// What an operation returns when no completion token is given: an awaitable.
using default_token = asio::use_awaitable_t<>;

namespace detail {

template <typename Signature>
using handler = asio::any_completion_handler<Signature>;

/// Hands the completion handler, its type erased, to a function in the library. It knows its
/// executor, so that token adapters can find one before there is a handler.
template <typename Signature, typename Start>
struct initiation {
    asio::any_io_executor executor;
    Start start;

    using executor_type = asio::any_io_executor;
    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler, typename... Args>
    void operator()(Handler&& h, Args&&... args) {
        start(handler<Signature>(std::forward<Handler>(h)), std::forward<Args>(args)...);
    }
};

/// The only template machinery of the public headers: turns a completion token into an erased
/// handler and calls `start(handler, args...)`.
template <typename Signature, typename Token, typename Start, typename... Args>
auto initiate(asio::any_io_executor executor, Token&& token, Start start, Args&&... args) {
    return asio::async_initiate<Token, Signature>(
        initiation<Signature, Start>{std::move(executor), start}, token,
        std::forward<Args>(args)...);
}

} // namespace detail
} // namespace paddock
