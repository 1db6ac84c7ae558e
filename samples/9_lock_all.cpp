// Moves money between accounts that each have a lock of their own. Both locks are taken together,
// in an order that all programs agree upon, so two transfers never wait for each other.
//     lock_all [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

struct account {
    account(const paddock::client& zk, const std::string& name)
        : lock(zk, "/locks/accounts/" + name) {}
    paddock::mutex lock;
    int balance = 100;
};

//[transfer
asio::awaitable<void> transfer(account& from, account& to, int amount) {
    const std::vector<paddock::mutex> both{from.lock, to.lock};
    paddock::guard_set guards = co_await paddock::lock_all(both);
    from.balance -= amount;
    to.balance += amount;
    // guards[0] is the guard of `from`, guards[1] that of `to`: each has a token to fence with.
    std::cout << "moved " << amount << ", token " << guards[0].fencing_token() << '\n';
    co_await guards.unlock();
}
//]

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    account anna(zk, "anna"), bert(zk, "bert"), cleo(zk, "cleo");
    co_await (transfer(anna, bert, 10) && transfer(bert, anna, 20) && transfer(bert, cleo, 30) &&
              transfer(cleo, anna, 40));
    std::cout << "balances " << anna.balance << ' ' << bert.balance << ' ' << cleo.balance << '\n';

    // All or nothing, within one limit for all of them together.
    const std::vector<paddock::mutex> all{anna.lock, bert.lock, cleo.lock};
    paddock::guard busy = co_await cleo.lock.lock();
    if (auto guards = co_await paddock::try_lock_all_for(all, 50ms); !guards)
        std::cout << "one of them is taken, so none is held\n";
    co_await busy.unlock();

    // Locks of several kinds: at most two programs at a time look through an account.
    const paddock::semaphore audits(zk, "/locks/audits", 2);
    const paddock::shared_mutex rules(zk, "/locks/rules");
    const auto audit = [&](paddock::guard_set& held) -> asio::awaitable<void> {
        std::cout << "an audit under " << held.size() << " locks\n";
        co_return;
    };
    const std::vector<paddock::lock_request> needed{anna.lock, paddock::shared(rules),
                                                    paddock::permits(audits)};
    co_await paddock::with_all(needed, audit);
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
