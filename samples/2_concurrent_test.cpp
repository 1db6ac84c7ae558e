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
#include <numeric>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

const auto begun = std::chrono::steady_clock::now();
/// Milliseconds since then.
double now() { return (std::chrono::steady_clock::now() - begun) / 1.0ms; }

/// Prints the node's predecessor as soon as the ensemble has it in the queue.
asio::awaitable<void> tell_place(paddock::mutex mutex, std::string name) {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (true) {
        const auto queue = co_await mutex.contenders();
        const auto me = std::find_if(queue.begin(), queue.end(),
                                     [&](const auto& c) { return c.label == name; });
        if (me != queue.end() && me != queue.begin())
            std::printf("%7.1f ms  %-8s waits for %s\n", now(), name.c_str(),
                        std::prev(me)->label.c_str());
        if (me != queue.end()) co_return;
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> node(std::string servers, int number, std::vector<double>& waits) {
    const auto executor = co_await asio::this_coro::executor;
    const auto name = "node " + std::to_string(number);
    paddock::client zk(executor, servers);
    paddock::mutex mutex(zk, "/paddock/experiment", {.label = name});
    co_await zk.connect();

    const double asked = now();
    paddock::guard guard = co_await (mutex.lock() && tell_place(mutex, name));
    waits.push_back(now() - asked);
    std::printf("%7.1f ms  %-8s leads, token %s\n", now(), name.c_str(),
                to_string(guard.fencing_token()).c_str());

    asio::steady_timer work(executor, 50ms);
    co_await work.async_wait(asio::use_awaitable);
    std::printf("%7.1f ms  %-8s unlocks\n", now(), name.c_str());
    co_await guard.unlock();
    co_await zk.close();
}

int main(int argc, char** argv) {
    std::string servers = "localhost:2181";
    int nodes = 15;
    const option known[] = {{"nodes", required_argument, nullptr, 'n'},
                            {"servers", required_argument, nullptr, 's'},
                            {}};
    for (int o; (o = getopt_long(argc, argv, "n:s:", known, nullptr)) != -1;) {
        if (o == 'n') nodes = std::atoi(optarg);
        if (o == 's') servers = optarg;
        if (o == '?' || nodes < 1) return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // a line leaves at once, also into a pipe
    asio::io_context io(1);
    std::vector<double> waits; // in milliseconds
    for (int i = 1; i <= nodes; ++i)
        co_spawn(io, node(servers, i, waits), [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    io.run();
    const auto [min, max] = std::minmax_element(waits.begin(), waits.end());
    const double sum = std::accumulate(waits.begin(), waits.end(), 0.0);
    std::printf(
        "%zu nodes led; time from lock() to leading: min %.1f ms, max %.1f ms, avg %.1f ms\n",
        waits.size(), *min, *max, sum / nodes);
}
