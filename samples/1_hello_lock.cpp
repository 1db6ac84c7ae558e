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
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/printer");
    paddock::guard guard = co_await mutex.lock(); // suspended until it is our turn; no thread waits
    std::cout << "holding " << guard.path() << '\n';
} // releases the lock and ends the session; `co_await guard.unlock()` would wait for it
int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, print(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get(); // throws what the coroutine threw
}
//]
