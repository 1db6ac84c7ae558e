// Takes a lock, works, and releases it.
//     hello_lock [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

//[program
asio::awaitable<void> print(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::mutex mutex(zk, "/locks/printer");
    const auto work = [](paddock::guard& guard) -> asio::awaitable<void> {
        std::cout << "holding " << guard.path() << '\n';
        co_return; // if the lock is lost, this coroutine is cancelled
    };
    co_await mutex.with(work); // suspended until it is our turn, and until the lock is free again
}
int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, print(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get(); // throws what the coroutine threw
}
//]
