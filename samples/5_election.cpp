// Three candidates lead one after the other, and an observer follows.
//     election [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

//[candidate
asio::awaitable<void> candidate(paddock::client& zk, std::string name) {
    paddock::election_options options;
    options.id = name; // the name that observers see
    paddock::election votes(zk, "/samples/votes", options);
    paddock::guard leadership = co_await votes.campaign();
    std::cout << name << " leads, with token " << leadership.fencing_token().zxid << '\n';
    asio::steady_timer work(co_await asio::this_coro::executor, 50ms);
    const auto first = co_await (work.async_wait(asio::use_awaitable) || leadership.lost());
    if (first.index() == 1) { // it was lost before the work was done, and the work was cancelled
        std::cout << name << " leads no more: " << std::get<1>(first).message() << '\n';
        co_return;
    }
    std::cout << name << " resigns\n";
    co_await leadership.unlock();
}
//]

//[follower
asio::awaitable<void> follower(paddock::client& zk) {
    paddock::election votes(zk, "/samples/votes");
    std::optional<paddock::contender> leader;
    for (;;) {
        paddock::fencing_token seen;
        if (leader) seen = leader->token;
        leader = co_await votes.next_leader(seen);
        if (!leader) break;
        std::cout << "  the follower hears of " << leader->data << '\n';
    }
    std::cout << "  the follower sees that there is no leader\n";
}
//]

asio::awaitable<void> run(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    co_await (candidate(zk, "alice") && candidate(zk, "bob") && candidate(zk, "carol") &&
              follower(zk));
    co_await zk.close();
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    auto done = co_spawn(io, run(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
