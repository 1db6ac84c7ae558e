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
    const auto lead = [&](paddock::guard& leadership) -> asio::awaitable<paddock::after_term> {
        std::cout << name << " leads, with token " << leadership.fencing_token() << '\n';
        asio::steady_timer work(co_await asio::this_coro::executor, 50ms);
        co_await work.async_wait(asio::use_awaitable);
        std::cout << name << " resigns\n";
        co_return paddock::after_term::stop; // a service leads again: after_term::campaign
    };
    // If the leadership is lost, lead() cancels the work, and campaigns again.
    co_await votes.lead(lead);
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
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
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
