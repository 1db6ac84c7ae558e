// The 15-node experiment on Redis: every node is a client of its own and wants to lead; they lead
// one after the other, in any order: Redis has no queue. All of them live on one thread.
//     experiment_on_redis [--nodes N] [--new-servers] [--servers host:port,…]
#include <paddock/guard.hpp>
#include <paddock/redis/client.hpp>
#include <paddock/redis/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <getopt.h>
#include <numeric>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

const auto begun = std::chrono::steady_clock::now();
/// Milliseconds since then.
double now() { return (std::chrono::steady_clock::now() - begun) / 1.0ms; }

struct experiment {
    std::string servers = "localhost:6379";
    int nodes = 15;
    paddock::redis::client_options options;
    std::vector<double> waits; // in milliseconds
};

asio::awaitable<void> node(experiment& e, int number) {
    const auto executor = co_await asio::this_coro::executor;
    const auto name = "node " + std::to_string(number);
    paddock::redis::client redis(executor, "redis://" + e.servers, e.options);
    paddock::redis::mutex mutex(redis, "paddock-experiment");
    co_await redis.connect();

    std::printf("%7.1f ms  %-8s asks\n", now(), name.c_str());
    const double asked = now();
    paddock::guard guard = co_await mutex.lock();
    e.waits.push_back(now() - asked);
    std::printf("%7.1f ms  %-8s leads, token %s\n", now(), name.c_str(),
                to_string(guard.fencing_token()).c_str());

    asio::steady_timer work(executor, 50ms);
    co_await work.async_wait(asio::use_awaitable);
    std::printf("%7.1f ms  %-8s unlocks\n", now(), name.c_str());
    co_await guard.unlock();
    co_await redis.close();
}

int main(int argc, char** argv) {
    experiment e;
    const option known[] = {{"nodes", required_argument, nullptr, 'n'},
                            {"servers", required_argument, nullptr, 's'},
                            {"new-servers", no_argument, nullptr, 'f'},
                            {}};
    for (int o; (o = getopt_long(argc, argv, "n:s:f", known, nullptr)) != -1;) {
        if (o == 'n') e.nodes = std::atoi(optarg);
        if (o == 's') e.servers = optarg;
        // Otherwise a server's first use waits for a minute: it could have forgotten a lock.
        if (o == 'f') e.options.trust_new_servers = true;
        if (o == '?' || e.nodes < 1) return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // a line leaves at once, also into a pipe
    asio::io_context io(1);
    for (int i = 1; i <= e.nodes; ++i)
        co_spawn(io, node(e, i), [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    io.run();
    const auto [min, max] = std::minmax_element(e.waits.begin(), e.waits.end());
    const double sum = std::accumulate(e.waits.begin(), e.waits.end(), 0.0);
    std::printf(
        "%zu nodes led; time from lock() to leading: min %.1f ms, max %.1f ms, avg %.1f ms\n",
        e.waits.size(), *min, *max, sum / e.nodes);
}
