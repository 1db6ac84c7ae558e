// paddock on ZooKeeper.
#include "contend.hpp"

#include <paddock/paddock.hpp>

#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace paddock::bench;
using namespace std::chrono_literals;

namespace {

/// What a program's metrics or traces do at least.
struct counting_observer final : paddock::observer {
    void on_waiting(const paddock::observed_lock&, std::size_t) override { ++events; }
    void on_granted(const paddock::observed_lock&, paddock::boot_clock::duration,
                    const paddock::fencing_token&) override {
        ++events;
    }
    void on_ended(const paddock::observed_lock&, paddock::boot_clock::duration,
                  paddock::error_code) override {
        ++events;
    }
    std::size_t events = 0;
};

struct zookeeper_system {
    using client = paddock::client;
    using mutex = paddock::mutex;

    client connect(asio::io_context& io) const {
        paddock::client_options options;
        if (observed) options.observer = std::make_shared<counting_observer>();
        if (!ca.empty()) options.tls = paddock::tls({.ca = ca});
        return client(io, servers, options);
    }

    mutex make(const client& from, const std::string& path) const {
        paddock::mutex_options options;
        options.persistent_parents = true;
        if (sticky) {
            options.linger = 1s;
            options.max_local_handoffs = 100;
        }
        return mutex(from, path, options);
    }

    asio::awaitable<void> until_queued(client& zk, std::string path, std::size_t waiters) const {
        while (!sticky) { // local waiters have no nodes there, and are in the line already
            const paddock::node_stat stat = co_await zk.exists(path);
            if (static_cast<std::size_t>(stat.num_children) > waiters) break;
            co_await pause(10ms);
        }
    }

    std::string servers;
    std::string ca; ///< connections are encrypted, with servers that this one vouches for
    bool sticky = false;
    bool observed = false;
};

/// A lock for a key that was never locked before, again and again, or until all keys were.
asio::awaitable<void> by_key(const paddock::lock_family& family, std::size_t number,
                             const job& wanted, measurement& figures) {
    const auto first = wanted.number("first_key"), step = wanted.number("contenders");
    const auto end = first + wanted.number("keys", std::numeric_limits<std::uint32_t>::max());
    for (auto key = first + number; key < end && !figures.over(); key += step) {
        const auto asked = steady::now();
        paddock::guard hold = co_await family.lock(std::to_string(key));
        figures.count(asked);
        co_await hold.unlock();
    }
}

asio::awaitable<void> read_mostly(const paddock::shared_mutex& mutex, std::size_t number,
                                  std::size_t one_in, measurement& figures) {
    for (auto turn = number; !figures.over(); ++turn) {
        const auto asked = steady::now();
        paddock::guard hold;
        if (turn % one_in == 0)
            hold = co_await mutex.lock();
        else
            hold = co_await mutex.lock_shared();
        figures.count(asked);
        co_await hold.unlock();
    }
}

asio::awaitable<void> try_busy(const paddock::mutex& mutex, measurement& figures) {
    while (!figures.over()) {
        const auto asked = steady::now();
        paddock::guard hold = co_await mutex.try_lock();
        if (hold) throw std::runtime_error("the lock was free");
        figures.count(asked);
    }
}

asio::awaitable<void> ask_whether_valid(const paddock::mutex& mutex, measurement& figures) {
    paddock::guard hold = co_await mutex.lock();
    while (!figures.over()) {
        const auto asked = steady::now();
        for (int i = 0; i < 1000; ++i)
            if (!hold.valid()) throw std::runtime_error("the lock is lost");
        figures.count(asked);
    }
    co_await hold.unlock();
}

/// The leader's client closes, and another one, which waits for that, leads.
asio::awaitable<void> fail_over(asio::io_context& io, const zookeeper_system& system,
                                const job& wanted, measurement& figures) {
    const auto path = wanted.text("path");
    auto leads = std::make_unique<paddock::client>(system.connect(io));
    paddock::guard leadership = co_await paddock::election(*leads, path).campaign();
    figures.begin();
    while (!figures.over()) {
        auto follows = std::make_unique<paddock::client>(system.connect(io));
        const paddock::election votes(*follows, path);
        paddock::guard next;
        crew waits(io);
        waits.start([](const paddock::election& in, paddock::guard& won) -> asio::awaitable<void> {
            won = co_await in.campaign();
        }(votes, next));
        co_await system.until_queued(*leads, path, 1);
        const auto asked = steady::now();
        crew closes(io);
        closes.start(
            [](paddock::client& one) -> asio::awaitable<void> { co_await one.close(); }(*leads));
        co_await waits.wait();
        figures.count(asked);
        co_await closes.wait();
        leadership = std::move(next);
        leads = std::move(follows);
    }
    co_await leads->close();
}

/// The server is started again while they wait for a holder, who then releases.
asio::awaitable<void> recover(asio::io_context& io, const zookeeper_system& system,
                              const job& wanted, measurement& figures) {
    const auto contenders = wanted.number("contenders");
    auto zk = system.connect(io);
    const paddock::mutex mutex = system.make(zk, wanted.text("path"));
    paddock::guard holder = co_await mutex.lock();
    crew all(io);
    for (std::size_t i = 0; i < contenders; ++i)
        all.start(contender(mutex, i, wanted, figures));
    co_await system.until_queued(zk, wanted.text("path"), contenders);
    std::ofstream(wanted.text("ready"));
    paddock::client_state state = co_await zk.next_state(paddock::client_state::connected);
    while (state != paddock::client_state::connected)
        state = co_await zk.next_state(state);
    figures.begin();
    co_await holder.unlock();
    co_await all.wait();
    figures.end();
    co_await zk.close();
}

/// Clients that hold a lock each, wait for one, or do nothing; it counts a second of each of them.
asio::awaitable<void> rest(asio::io_context& io, const zookeeper_system& system, const job& wanted,
                           measurement& figures) {
    const auto what = wanted.text("what"), path = wanted.text("path");
    const auto contenders = wanted.number("contenders");
    auto rival = system.connect(io);
    co_await rival.connect();
    std::vector<paddock::client> clients;
    std::vector<paddock::guard> holds;
    crew waiters(io);
    for (std::size_t i = 0; i < contenders; ++i) {
        const auto lock = path + '-' + std::to_string(i);
        clients.push_back(system.connect(io));
        co_await clients.back().connect();
        if (what == "idle") continue;
        const paddock::mutex theirs = system.make(rival, lock),
                             own = system.make(clients.back(), lock);
        const paddock::mutex& first = what == "hold" ? own : theirs;
        paddock::guard held = co_await first.lock();
        holds.push_back(std::move(held));
        if (what == "hold") continue;
        waiters.start([](paddock::mutex mutex) -> asio::awaitable<void> {
            paddock::guard got = co_await mutex.lock();
            co_await got.unlock();
        }(own));
        co_await system.until_queued(rival, lock, 1);
    }
    co_await pause(3s); // until they are as they will be
    std::ofstream(wanted.text("ready"));
    figures.begin();
    while (!figures.over()) {
        const auto asked = steady::now();
        co_await pause(1s);
        for (std::size_t i = 0; i < contenders; ++i)
            figures.count(asked, i);
    }
    co_await pause(1s);
    for (auto& one : holds)
        if (!one.valid()) throw std::runtime_error("a lock is lost");
    for (auto& one : holds)
        co_await one.unlock();
    co_await waiters.wait();
    for (auto& one : clients)
        co_await one.close();
    co_await rival.close();
}

/// Runs the contenders that `start` makes, on a client of their own.
asio::awaitable<void> other(asio::io_context& io, const zookeeper_system& system, const job& wanted,
                            measurement& figures) {
    auto zk = system.connect(io), rival = system.connect(io);
    co_await zk.connect();
    co_await rival.connect();
    const auto path = wanted.text("path");
    const auto contenders = wanted.number("contenders");
    const paddock::mutex mutex = system.make(zk, path), same = system.make(rival, path);
    paddock::shared_mutex_options options;
    options.persistent_parents = true;
    const paddock::shared_mutex shared(zk, path, options);
    const paddock::lock_family family(zk, path);
    paddock::guard holder;
    if (wanted.workload() == "try") holder = co_await same.lock();
    crew all(io);
    figures.begin();
    for (std::size_t i = 0; i < contenders; ++i)
        if (wanted.workload() == "keys")
            all.start(by_key(family, i, wanted, figures));
        else if (wanted.workload() == "shared")
            all.start(read_mostly(shared, i, wanted.number("one_in"), figures));
        else if (wanted.workload() == "try")
            all.start(try_busy(mutex, figures));
        else if (wanted.workload() == "valid")
            all.start(ask_whether_valid(mutex, figures));
        else
            throw std::runtime_error("no such workload");
    co_await all.wait();
    figures.end();
    holder = {};
    co_await zk.close();
    co_await rival.close();
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) return 2;
    serve([&](const job& wanted, measurement& figures) {
        const zookeeper_system system{argv[1], argc > 2 ? argv[2] : "",
                                      wanted.number("sticky", 0) == 1,
                                      wanted.number("observed", 0) == 1};
        asio::io_context io(1);
        if (wanted.workload() == "contend")
            asio::co_spawn(io, contend(io, system, wanted, figures), rethrow);
        else if (wanted.workload() == "failover")
            asio::co_spawn(io, fail_over(io, system, wanted, figures), rethrow);
        else if (wanted.workload() == "rest")
            asio::co_spawn(io, rest(io, system, wanted, figures), rethrow);
        else if (wanted.workload() == "recover")
            asio::co_spawn(io, recover(io, system, wanted, figures), rethrow);
        else
            asio::co_spawn(io, other(io, system, wanted, figures), rethrow);
        io.run();
    });
}
