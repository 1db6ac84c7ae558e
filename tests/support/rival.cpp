// Holds a mutex until another contender is in the queue, and then queues again, behind it.
//     rival host:port path       says when it holds the lock; keeps it until it is killed
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> compete(std::string servers, std::string path) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, path);
    paddock::guard hold = co_await mutex.lock();
    std::cout << "holds it" << std::endl;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (;;) {
        const auto queue = co_await mutex.contenders();
        if (queue.size() > 1) break;
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(asio::use_awaitable);
    }
    paddock::ticket place = co_await mutex.enqueue();
    co_await hold.unlock();
    const paddock::guard again = co_await place.acquired();
    co_await again.lost();
}

} // namespace

int main(int, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, compete(argv[1], argv[2]), asio::use_future);
    io.run();
    done.get();
}
