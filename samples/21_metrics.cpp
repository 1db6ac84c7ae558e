// What a service answers to Prometheus: the statistics of its client, as text.
//     metrics [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;

asio::awaitable<void> work(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    const paddock::lock_family carts(zk, "/locks/carts");
    const paddock::election leader(zk, "/locks/\"leader\"");
    for (int cart = 0; cart < 10; ++cart) {
        paddock::guard held = co_await carts.lock(std::to_string(cart));
        co_await held.unlock();
    }
    paddock::write_prometheus(std::cout, zk.statistics()); // what `GET /metrics` answers
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
