// One lock for each article, however many there are: orders of the same article wait for each
// other, orders of different articles do not. No object per article, only one for the family.
//     lock_by_key [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <map>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

using stock = std::map<std::string, int>;

asio::awaitable<void> order(const paddock::lock_family& locks, stock& articles, std::string article,
                            int pieces) {
    const auto take = [&]() -> asio::awaitable<void> {
        const int before = articles[article];
        asio::steady_timer packing(co_await asio::this_coro::executor, 10ms);
        co_await packing.async_wait(asio::use_awaitable);
        articles[article] = before - pieces; // no order of this article came in between
        std::cout << "ordered " << pieces << ' ' << article << '\n';
    };
    co_await locks.with(article, take); // the key may be any bytes: "apple", "EU/4711", …
}

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    const paddock::lock_family locks(zk, "/locks/orders");
    stock articles{{"apple", 10}, {"pear", 10}, {"EU/4711", 10}};
    co_await (order(locks, articles, "apple", 1) && order(locks, articles, "apple", 2) &&
              order(locks, articles, "pear", 3) && order(locks, articles, "EU/4711", 4));
    for (const auto& [article, pieces] : articles)
        std::cout << pieces << " of " << article << " are left\n";

    // Prices are read often and changed seldom: one read-write lock for each article.
    const paddock::shared_lock_family prices(zk, "/locks/prices");
    paddock::guard reader = co_await prices.lock_shared("apple");
    paddock::guard another = co_await prices.try_lock_shared("apple");
    paddock::guard writer = co_await prices.try_lock_for("apple", 20ms);
    std::cout << (another && !writer ? "two readers, no writer\n" : "the price is being changed\n");

    // The lock of a key is a mutex at this path, also for other programs.
    std::cout << "the lock of EU/4711 is " << locks.path_of("EU/4711") << '\n';
    co_await reader.unlock();
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
