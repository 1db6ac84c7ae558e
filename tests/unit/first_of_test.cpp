// Two coroutines at once, of which the first one decides.

#include <paddock/first_of.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

using namespace paddock;

namespace {

/// Has no default, and is only moved.
struct ticket_number {
    explicit ticket_number(int n) : number(n) {}
    ticket_number(ticket_number&&) = default;
    ticket_number& operator=(ticket_number&&) = default;
    int number;
};

/// Waits until it is cancelled, then says so, with a result of its own if it is stubborn.
asio::awaitable<ticket_number> waiting(std::string& end, bool stubborn = false) {
    asio::steady_timer never(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    try {
        co_await never.async_wait(asio::use_awaitable);
    } catch (const system_error& e) {
        end = e.code() == asio::error::operation_aborted ? "cancelled" : "failed";
        if (!stubborn) throw;
    }
    co_return ticket_number(7);
}

asio::awaitable<ticket_number> at_once(int number) { co_return ticket_number(number); }

asio::awaitable<void> nothing_at_once() { co_return; }

asio::awaitable<void> failing() {
    throw std::runtime_error("no");
    co_return;
}

asio::awaitable<void> both_waiting(std::string& a, std::string& b) {
    co_await first_of(waiting(a), waiting(b));
}

/// Runs a coroutine; what it throws, or an empty pointer.
template <typename T>
std::exception_ptr failure_of(asio::awaitable<T> work, std::optional<T>& result) {
    asio::io_context io;
    std::exception_ptr failure;
    asio::co_spawn(
        io,
        [](asio::awaitable<T> from, std::optional<T>& to) -> asio::awaitable<void> {
            to.emplace(co_await std::move(from));
        }(std::move(work), result),
        [&](std::exception_ptr e) { failure = std::move(e); });
    io.run();
    return failure;
}

} // namespace

TEST_CASE("the first of two gives its result, and the other is cancelled and waited for") {
    for (const bool stubborn : {false, true}) {
        std::string end;
        std::optional<std::variant<ticket_number, ticket_number>> result;
        CHECK_FALSE(failure_of(first_of(at_once(3), waiting(end, stubborn)), result));
        REQUIRE(result->index() == 0);
        CHECK(std::get<0>(*result).number == 3);
        CHECK(end == "cancelled");
        result.reset();
        end.clear();
        CHECK_FALSE(failure_of(first_of(waiting(end, stubborn), at_once(4)), result));
        REQUIRE(result->index() == 1);
        CHECK(std::get<1>(*result).number == 4);
        CHECK(end == "cancelled");
    }
}

TEST_CASE("a failure that comes first is thrown at once, whoever waits") {
    std::string end;
    std::optional<std::variant<std::monostate, ticket_number>> result;
    CHECK_THROWS_WITH(std::rethrow_exception(failure_of(first_of(failing(), waiting(end)), result)),
                      "no");
    CHECK(end == "cancelled");
    end.clear();
    std::optional<std::variant<ticket_number, std::monostate>> other;
    CHECK_THROWS_WITH(
        std::rethrow_exception(failure_of(first_of(waiting(end, true), failing()), other)), "no");
    CHECK(end == "cancelled");
}

TEST_CASE("of two that end in one turn the first counts") {
    std::optional<std::variant<std::monostate, std::monostate>> result;
    CHECK_FALSE(failure_of(first_of(nothing_at_once(), failing()), result));
    CHECK(result->index() == 0);
}

TEST_CASE("a cancellation of the caller ends both") {
    asio::io_context io;
    asio::cancellation_signal stop;
    std::string a, b;
    std::exception_ptr failure;
    asio::co_spawn(io, both_waiting(a, b),
                   asio::bind_cancellation_slot(
                       stop.slot(), [&](std::exception_ptr e) { failure = std::move(e); }));
    io.poll();
    CHECK(a.empty());
    stop.emit(asio::cancellation_type::terminal);
    io.run();
    CHECK(a == "cancelled");
    CHECK(b == "cancelled");
    REQUIRE(failure);
    CHECK_THROWS_AS(std::rethrow_exception(failure), system_error);
}
