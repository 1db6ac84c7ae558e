// paddock on ZooKeeper.
#include "contend.hpp"

#include <paddock/paddock.hpp>

#include <stdexcept>

using namespace paddock::bench;
using namespace std::chrono_literals;

namespace {

struct zookeeper_system {
    using client = paddock::client;
    using mutex = paddock::mutex;

    client connect(asio::io_context& io) const { return client(io, servers); }

    mutex make(const client& from, const std::string& path) const {
        paddock::mutex_options options;
        options.persistent_parents = true;
        return mutex(from, path, options);
    }

    asio::awaitable<void> until_queued(client& zk, std::string path, std::size_t waiters) const {
        while (true) {
            const paddock::node_stat stat = co_await zk.exists(path);
            if (static_cast<std::size_t>(stat.num_children) > waiters) break;
            co_await pause(10ms);
        }
    }

    std::string servers;
};

/// A lock for a key that was never locked before, again and again.
asio::awaitable<void> by_key(const paddock::lock_family& family, std::size_t first,
                             std::size_t step, measurement& figures) {
    for (auto key = first; !figures.over(); key += step) {
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
            all.start(by_key(family, wanted.number("first_key") + i, contenders, figures));
        else if (wanted.workload() == "shared")
            all.start(read_mostly(shared, i, wanted.number("one_in"), figures));
        else if (wanted.workload() == "try")
            all.start(try_busy(mutex, figures));
        else if (wanted.workload() == "valid")
            all.start(ask_whether_valid(mutex, figures));
        else
            throw std::runtime_error("no such workload");
    co_await all.wait();
    holder = {};
    co_await zk.close();
    co_await rival.close();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const zookeeper_system system{argv[1]};
    serve([&](const job& wanted, measurement& figures) {
        asio::io_context io(1);
        if (wanted.workload() == "contend")
            asio::co_spawn(io, contend(io, system, wanted, figures), rethrow);
        else
            asio::co_spawn(io, other(io, system, wanted, figures), rethrow);
        io.run();
    });
}
