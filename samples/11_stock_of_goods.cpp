// A stock of goods, and orders that are carried out as a whole or not at all, even if the lock is
// lost in the middle: each writes a file of its own, and a node says which file counts.
//     stock_of_goods [host:port,…]       leaves files in the current folder
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
using goods = std::map<std::string, int>;

goods load(const std::string& file) {
    goods stock;
    std::ifstream in(file);
    for (std::string item; in >> item;)
        in >> stock[item];
    return stock;
}

void save(const std::string& file, const goods& stock) {
    std::ofstream out(file);
    for (const auto& [item, count] : stock)
        out << item << ' ' << count << '\n';
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

struct change {
    goods stock;
    int version; // of the node that was read
};

asio::awaitable<void> order(paddock::client& zk, paddock::mutex mutex, goods wanted, bool kick) {
    paddock::guard guard = co_await mutex.lock();
    const auto draft = "stock-" + to_string(guard.fencing_token()); // unique to this hold
    paddock::guarded_steps<change> steps;
    steps.record = [&]() -> asio::awaitable<change> {
        const auto now = co_await zk.get("/stock-of-goods");
        co_return change{load(now.data), now.stat.version};
    };
    steps.operate = [&](change& c) -> asio::awaitable<void> {
        for (const auto& [item, count] : wanted) {
            if ((c.stock[item] -= count) < 0) throw std::runtime_error("too few " + item);
            save(draft, c.stock);
        }
        if (kick) co_await zk.remove(std::string(guard.path()), -1); // as an administrator may
    };
    steps.commit = [&](change& c) -> std::vector<paddock::operation> { // if as it was read
        return {paddock::op::set{"/stock-of-goods", draft, c.version}};
    };
    steps.restore = [&](change&) -> asio::awaitable<void> {
        std::filesystem::remove(draft); // and nothing else: the next holder may be at work
        co_return;
    };
    const auto result = co_await paddock::guarded(guard, std::move(steps));
    const bool restored = result.outcome == paddock::guarded_outcome::restored;
    std::cout << (result ? "sold\n" : restored ? "rolled back\n" : "in doubt\n");
}

asio::awaitable<void> sell(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/stock");
    const goods all{{"apples", 10}, {"pears", 5}};
    const goods few{{"apples", 3}, {"pears", 1}}, many{{"apples", 1}, {"pears", 9}};
    save("stock-0", all);
    const paddock::create_options for_this_run{.mode = paddock::create_mode::ephemeral};
    co_await zk.create("/stock-of-goods", "stock-0", for_this_run);
    co_await order(zk, mutex, few, false);
    co_await order(zk, mutex, many, false);
    co_await order(zk, mutex, few, true);
    const auto now = co_await zk.get("/stock-of-goods");
    std::cout << load(now.data)["apples"] << " apples left\n";
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, sell(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
