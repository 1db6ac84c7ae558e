// Takes a lock, works, and gives it back.
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;

//[program
asio::awaitable<void> work(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/printer");
    paddock::guard hold = co_await mutex.lock(); // suspended, until it is our turn
    std::cout << "holding " << hold.path() << '\n';
    co_await hold.unlock();
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
//]
