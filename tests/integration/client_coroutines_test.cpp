// Coroutines whose executor has a concrete type, and operations that they start.

#include "support/lock_harness.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <exception>

using namespace paddock;
using namespace paddock::test;

namespace {

using concrete = asio::io_context::executor_type;

asio::awaitable<int, concrete> take_turns(client& zk, const mutex& lock) {
    int turns = 0;
    co_await zk.connect(asio::deferred);
    for (int i = 0; i < 2; ++i) {
        guard g = co_await lock.lock(asio::deferred);
        turns += g.valid() ? 1 : 0;
        co_await g.unlock(asio::deferred);
    }
    const asio::use_awaitable_t<concrete> token;
    const guard last = co_await lock.try_lock(token);
    turns += last.valid() ? 1 : 0;
    co_return turns;
}

} // namespace

CO_TEST("a coroutine on a concrete executor awaits operations with deferred") {
    scene s(executor);
    std::optional<int> turns;
    asio::co_spawn(io.get_executor(), take_turns(s.zk, s.lock),
                   [&](std::exception_ptr failure, int result) {
                       CHECK_FALSE(failure);
                       turns = result;
                   });
    co_await eventually([&] { return turns.has_value(); });
    CHECK(turns == 3);
}
