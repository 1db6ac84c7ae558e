// A service that ends on SIGTERM or SIGINT: it takes no more work, finishes the order that it is
// at, and releases its locks before it exits.
//     graceful_shutdown [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
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
    // A step that must not be cut in half.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    std::cout << "ships " << order << std::endl;
    asio::steady_timer work(co_await asio::this_coro::executor, 200ms);
    co_await work.async_wait(asio::use_awaitable);
    std::cout << "has shipped " << order << std::endl;
}

//[service
asio::awaitable<void> serve(paddock::client& zk) {
    const paddock::lock_family orders(zk, "/locks/shipping");
    try {
        for (int i = 1;; ++i) {
            const std::string order = "order " + std::to_string(i);
            const auto work = [&] { return ship(order); };
            co_await orders.with(order, work);
        }
    } catch (const paddock::system_error& end) { // a wait for a lock has left the queue
        if (end.code() != paddock::condition::cancelled) throw;
    }
}
//]

/// The first signal lets the order at hand end, the second one does not wait for its release.
asio::awaitable<void> stop_on_signal(asio::signal_set& signals, asio::cancellation_signal& stop) {
    for (;;) {
        co_await signals.async_wait(asio::use_awaitable);
        stop.emit(asio::cancellation_type::terminal);
    }
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    paddock::client zk(io, argc > 1 ? argv[1] : "localhost:2181");
    asio::cancellation_signal stop;
    asio::signal_set signals(io, SIGTERM, SIGINT);
    asio::co_spawn(io, stop_on_signal(signals, stop), asio::detached);
    const auto served = [&](std::exception_ptr failure) {
        if (failure) std::rethrow_exception(failure);
        signals.cancel();
        zk.close([](paddock::error_code) { std::cout << "has closed" << std::endl; });
    };
    asio::co_spawn(io, serve(zk), asio::bind_cancellation_slot(stop.slot(), served));
    io.run();
}
