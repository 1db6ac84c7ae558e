// Who holds a lock, who waits, and whether this client is well: what an operator asks.
//     operators_view [host:port,… [path]]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

//[view
asio::awaitable<void> look(std::string servers, std::string path) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    co_await zk.connect_for(5s);
    const auto health = zk.health();
    std::cout << (health.ready ? "ready: " : "not ready: ") << health.reason << '\n';
    const paddock::mutex lock(zk, path);
    for (const auto& one : co_await lock.contenders())
        std::cout << (one.holder ? "holds: " : "waits: ") << one.label << " (process " << one.pid
                  << " on " << one.host << ", session " << std::hex << one.session << std::dec
                  << ")\n";
    const auto ensemble = zk.statistics().servers.at(0);
    std::cout << "the last answer took "
              << std::chrono::duration<double, std::milli>(ensemble.last_round_trip).count()
              << " ms\n";
    co_await zk.close();
}
//]

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(
        io, look(argc > 1 ? argv[1] : "localhost:2181", argc > 2 ? argv[2] : "/locks/printer"),
        [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    io.run();
}
