// Functions that each take the lock that they need, and call each other: the owner that they pass
// down identifies the caller.
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

    asio::awaitable<void> book(std::string what, paddock::owner caller) {
        paddock::guard guard = co_await mutex_.lock(caller);
        std::cout << name_of(caller) << " books " << what << '\n';
    }

    asio::awaitable<void> transfer(paddock::owner caller) {
        paddock::guard guard = co_await mutex_.lock(caller); // no owner comes in between
        co_await book("a withdrawal", caller);
        co_await pause(20ms);
        co_await book("a deposit", caller);
        co_await guard.unlock();
    }

private:
    std::string name_of(paddock::owner caller) { return "owner " + std::to_string(caller.id()); }

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
