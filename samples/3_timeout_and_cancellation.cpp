// What to do when the lock is taken: try once, wait for a while, or race the wait against anything.
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> write_report() {
    std::cout << "and now it is ours\n";
    co_return;
}

//[limit
asio::awaitable<void> report(paddock::mutex& mutex) {
    const bool ours = co_await mutex.try_with_for(1s, write_report);
    if (!ours) std::cout << "not our turn within a second\n";
}
//]

// Any lock has these forms: a mutex, a shared_mutex, a redis::mutex, …
asio::awaitable<void> try_once(const paddock::async_lockable auto& lock) {
    if (paddock::guard second = co_await lock.try_lock(); !second) std::cout << "it is taken\n";
}

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::mutex mutex(zk, "/locks/report");
    paddock::mutex same(zk, "/locks/report");
    paddock::guard guard = co_await mutex.lock();

    // Once, without waiting; nothing is written when the lock is taken.
    co_await try_once(same);

    // For a while. The limit bounds connecting and retries too.
    if (paddock::guard second = co_await same.try_lock_for(50ms); !second)
        std::cout << "still taken after 50 ms\n";

    // Against anything else that can be awaited: the loser is cancelled, and leaves the queue.
    // (With Asio's || a lock() that fails would not be noticed before closing time.)
    asio::steady_timer closing_time(executor, 50ms);
    const auto first =
        co_await paddock::first_of(same.lock(), closing_time.async_wait(asio::use_awaitable));
    if (first.index() == 1) std::cout << "closing time came first\n";

    co_await guard.unlock();
    co_await report(same);
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
