// The 15-node experiment: every node is a client of its own and wants to lead; they lead one after
// the other, in the order in which they came. All of them live on one thread.
//     concurrent_test [--nodes N] [--servers host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using milliseconds = std::chrono::duration<double, std::milli>;

struct experiment {
    std::string servers = "localhost:2181";
    int nodes = 15;
    std::string path = "/paddock/experiment";
    std::vector<milliseconds> waits;
};

/// Prints the node's predecessor as soon as the ensemble has it in the queue.
asio::awaitable<void> tell_place(paddock::mutex mutex, std::string name) {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (true) {
        const auto queue = co_await mutex.contenders();
        const auto me = std::find_if(queue.begin(), queue.end(),
                                     [&](const auto& c) { return c.label == name; });
        if (me != queue.end() && me != queue.begin())
            std::printf("%-8s waits for %s\n", name.c_str(), std::prev(me)->label.c_str());
        if (me != queue.end()) co_return;
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> node(experiment& e, int number) {
    const auto executor = co_await asio::this_coro::executor;
    const auto name = "node " + std::to_string(number);
    paddock::client zk(executor, e.servers);
    paddock::mutex mutex(zk, e.path, {.label = name});
    co_await zk.connect();

    const auto asked = std::chrono::steady_clock::now();
    paddock::guard guard = co_await (mutex.lock() && tell_place(mutex, name));
    e.waits.push_back(std::chrono::steady_clock::now() - asked);
    std::printf("%-8s leads, token %s\n", name.c_str(), to_string(guard.fencing_token()).c_str());

    asio::steady_timer work(executor, 50ms);
    co_await work.async_wait(asio::use_awaitable);
    std::printf("%-8s unlocks\n", name.c_str());
    co_await guard.unlock();
    co_await zk.close();
}

int main(int argc, char** argv) {
    experiment e;
    const option known[] = {{"nodes", required_argument, nullptr, 'n'},
                            {"servers", required_argument, nullptr, 's'},
                            {}};
    for (int o; (o = getopt_long(argc, argv, "n:s:", known, nullptr)) != -1;) {
        if (o == 'n') e.nodes = std::atoi(optarg);
        if (o == 's') e.servers = optarg;
        if (o == '?' || e.nodes < 1) return 2;
    }
    asio::io_context io(1);
    for (int i = 1; i <= e.nodes; ++i)
        co_spawn(io, node(e, i), [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    io.run();
    const auto [min, max] = std::minmax_element(e.waits.begin(), e.waits.end());
    const auto sum = std::accumulate(e.waits.begin(), e.waits.end(), milliseconds{});
    std::printf(
        "%zu nodes led; time from lock() to leading: min %.1f ms, max %.1f ms, avg %.1f ms\n",
        e.waits.size(), min->count(), max->count(), sum.count() / e.nodes);
}
