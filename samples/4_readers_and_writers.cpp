// Many read, one writes; then the writer goes on reading, without letting another writer in.
//     readers_and_writers [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

int price = 100; // what is shared

//[shared
asio::awaitable<void> reader(paddock::shared_mutex prices, int number) {
    paddock::guard guard = co_await prices.lock_shared();
    std::cout << "reader " << number << " sees " << price << '\n';
    co_await guard.unlock();
}

asio::awaitable<void> writer(paddock::shared_mutex prices) {
    paddock::guard guard = co_await prices.lock();
    price += 10;
    std::cout << "the writer makes it " << price << '\n';
    co_await guard.downgrade(); // readers may come in, writers may not
    std::cout << "the writer still sees " << price << '\n';
    co_await guard.unlock();
}
//]

asio::awaitable<void> run(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::shared_mutex prices(zk, "/samples/prices");
    co_await (reader(prices, 1) && reader(prices, 2) && writer(prices) && reader(prices, 3));
    co_await zk.close();
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, run(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
