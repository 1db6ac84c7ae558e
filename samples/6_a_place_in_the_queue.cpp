// The two steps of lock(): first a place in the queue, which can be observed; then the lock. The
// waiter asks the holder to release it, and sees its position change.
//     a_place_in_the_queue [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <optional>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

//[holder
asio::awaitable<void> obliging(paddock::guard guard) {
    co_await guard.revoke_requested(); // a client, or Curator's Revoker, asks for the lock
    std::cout << "the holder gets the request, and releases the lock\n";
    co_await guard.unlock();
}
//]

//[ticket
asio::awaitable<void> impatient(paddock::mutex mutex) {
    paddock::ticket place = co_await mutex.enqueue();
    std::cout << "ahead of us: " << place.position() << '\n';
    const std::optional<paddock::contender> holder = co_await place.holder();
    if (holder) {
        std::cout << "held by process " << holder->pid << ", label " << holder->label << '\n';
        co_await mutex.revoke(*holder);
    }
    while (place.position() > 0) {
        const std::size_t now = co_await place.next_change();
        std::cout << "ahead of us now: " << now << '\n';
    }
    paddock::guard guard = co_await place.acquired();
    std::cout << "our turn\n";
    co_await guard.unlock();
}
//]

asio::awaitable<void> run(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::mutex_options options;
    options.label = "nightly build";
    paddock::mutex mutex(zk, "/samples/builds", options);
    paddock::guard guard = co_await mutex.lock();
    co_await (obliging(std::move(guard)) && impatient(mutex));
    co_await zk.close();
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, run(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
