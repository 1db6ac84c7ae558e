// The same program on ZooKeeper or on Redis: its configuration says which, as a URL.
//     any_system [zk://host:port,… | redis://host:port,…]
#include <paddock/any_client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Code that locks takes the lock, and does not ask which system has it.
asio::awaitable<void> print(paddock::any_mutex printer, std::string page) {
    const auto work = [&](paddock::guard& held) -> asio::awaitable<void> {
        std::cout << "printing " << page << " under " << held.path() << '\n';
        co_return;
    };
    co_await printer.with(work);
}

asio::awaitable<void> run(std::string url) {
    paddock::any_client system(co_await asio::this_coro::executor, url);
    co_await system.connect_for(10s);
    const auto printer = system.mutex("/locks/any-printer"); // a path, or any key of Redis
    co_await print(printer, "page 1");
    co_await print(printer, "page 2");

    const auto orders = system.lock_family("/locks/any-orders");
    paddock::guard apple = co_await orders.lock("apple");
    paddock::guard again = co_await orders.try_lock("apple");
    std::cout << (again ? "two holders" : "one holder of apple at a time") << '\n';
    // What differs: see any_mutex.hpp. A token is there in both systems.
    std::cout << "its token is " << apple.fencing_token() << '\n';
    co_await apple.unlock();
    co_await system.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, run(argc > 1 ? argv[1] : "zk://localhost:2181"),
                   [](std::exception_ptr failed) {
                       if (failed) std::rethrow_exception(failed);
                   });
    try {
        io.run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
