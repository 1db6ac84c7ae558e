// A service that ends on SIGTERM or SIGINT: it takes no more work, finishes the orders that it is
// at, and releases their locks before it exits.
//     graceful_shutdown [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> ship(const std::string& order) {
    std::cout << "ships " << order << std::endl;
    asio::steady_timer work(co_await asio::this_coro::executor, 200ms);
    co_await work.async_wait(asio::use_awaitable);
    std::cout << "has shipped " << order << std::endl;
}

//[service
asio::awaitable<void> serve(const paddock::client& zk) {
    const paddock::lock_family orders(zk, "/locks/shipping");
    try {
        for (int i = 1;; ++i) {
            const std::string order = "order " + std::to_string(i);
            const auto work = [&] { return ship(order); };
            co_await orders.with(order, work);
        }
    } catch (const paddock::system_error& end) { // errc::draining
        if (end.code() != paddock::condition::closed) throw;
    }
}

asio::awaitable<void> drain_on_signal(paddock::client& zk) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGTERM, SIGINT);
    co_await signals.async_wait(asio::use_awaitable);
    signals.clear(); // a second signal ends the program at once
    co_await zk.drain(10s);
    std::cout << "has closed" << std::endl;
}
//]

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    paddock::client zk(io, argc > 1 ? argv[1] : "localhost:2181");
    const auto ended = [](std::exception_ptr failure) {
        if (failure) std::rethrow_exception(failure);
    };
    asio::co_spawn(io, serve(zk), ended);
    asio::co_spawn(io, drain_on_signal(zk), ended);
    io.run();
}
