// Six downloads, of which at most two run at a time, over all processes; then there is room for
// more.
//     so_many_at_a_time [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

int running = 0;

//[download
asio::awaitable<void> download(paddock::semaphore& slots, int weight) {
    paddock::guard guard = co_await slots.acquire(weight); // all or none
    running += weight;
    std::cout << "takes " << weight << ", in use " << running << '\n';
    asio::steady_timer transfer(co_await asio::this_coro::executor, 30ms);
    co_await transfer.async_wait(asio::use_awaitable);
    running -= weight;
    co_await guard.unlock(); // releases all of them
}
//]

asio::awaitable<void> run(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::semaphore_options options;
    options.counter = "/samples/downloads-limit"; // one number for all programs; without: fixed
    paddock::semaphore slots(zk, "/samples/downloads", 2, options);
    co_await slots.set_permits(2);
    co_await (download(slots, 1) && download(slots, 1) && download(slots, 2));

    paddock::guard both = co_await slots.acquire(2);
    paddock::guard third = co_await slots.try_acquire(1);
    std::cout << (third ? "there is room\n" : "there is no room\n");
    const auto grow = [](paddock::semaphore& s) -> asio::awaitable<void> {
        co_await s.set_permits(5); // wakes the waiters
    };
    co_await (download(slots, 3) && grow(slots));
    const auto now = co_await slots.state();
    std::cout << now.holders.size() << " of " << now.permits << " permits are taken\n";
    co_await both.unlock();
    co_await zk.close();
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, run(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
