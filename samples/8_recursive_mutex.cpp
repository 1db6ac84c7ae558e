// Functions that each take the lock that they need, and call each other: the owner that they pass
// down says on whose behalf.
//     recursive_mutex [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

class accounts {
public:
    accounts(const paddock::client& zk) : mutex_(zk, "/locks/accounts") {}

    asio::awaitable<void> book(std::string what, paddock::owner who) {
        paddock::guard hold = co_await mutex_.lock(who);
        std::cout << who_is(who) << " books " << what << '\n';
    }

    asio::awaitable<void> transfer(paddock::owner who) {
        paddock::guard hold = co_await mutex_.lock(who); // nobody comes between the two bookings
        co_await book("a withdrawal", who);
        co_await pause(20ms);
        co_await book("a deposit", who);
        co_await hold.unlock();
    }

private:
    std::string who_is(paddock::owner who) { return "owner " + std::to_string(who.id()); }

    asio::awaitable<void> pause(std::chrono::milliseconds time) {
        asio::steady_timer timer(mutex_.get_executor(), time);
        co_await timer.async_wait(asio::use_awaitable);
    }

    paddock::recursive_mutex mutex_;
};

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    accounts all(zk);
    const paddock::owner first, second;
    co_await (all.transfer(first) && all.transfer(second) && all.book("interest", second));
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
