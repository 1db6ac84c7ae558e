// Ten thousand waiters on one thread: the loop never stalls, and each costs little.

#include "support/counts.hpp"
#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <cstdio>

using namespace paddock;
using namespace paddock::test;

namespace {

#if defined(PADDOCK_TEST_SANITIZED)
constexpr std::size_t crowd = 1000;
#else
constexpr std::size_t crowd = 10'000;
#endif

// The cost of the library is measured in an optimised build.
#if defined(PADDOCK_TEST_OPTIMIZED) && !defined(PADDOCK_TEST_SANITIZED)
constexpr bool measured = true;
#else
constexpr bool measured = false;
#endif

/// Runs the context handler by handler, and remembers the longest.
struct stopwatch {
    asio::io_context& io;
    std::chrono::nanoseconds most{0};

    template <class Done>
    bool run_until(Done done, std::chrono::seconds limit) {
        const auto end = std::chrono::steady_clock::now() + limit * time_scale;
        while (!done()) {
            const auto before = thread_cpu_time();
            if (io.run_one_until(end) == 0) return false;
            most = std::max(most, thread_cpu_time() - before);
        }
        return true;
    }
    double take_ms() {
        return std::chrono::duration<double, std::milli>(std::exchange(most, {})).count();
    }
};

} // namespace

TEST_CASE("ten thousand waiters are served in order on one thread, by short handlers") {
    constexpr double limit_ms = 40; // three times what it takes on a machine that is idle
    const auto threads_before = threads();
    foreigner direct(shared_server().address());
    const auto path = fresh_root();
    direct.make_path(path);
    const auto other = queue_up(direct, path);

    asio::io_context io(1);
    stopwatch watch{io};
    client zk(io.get_executor(), shared_server().address(), short_session(30s));
    mutex m(zk, path);
    const auto connected = start([&](auto token) { zk.connect(std::move(token)); });
    REQUIRE(watch.run_until([&] { return connected->done(); }, 10s));
    watch.take_ms();

    const auto memory_before = rss_bytes();
    std::vector<fencing_token> tokens;
    tokens.reserve(crowd);
    for (std::size_t i = 0; i < crowd; ++i)
        m.lock([&](error_code problem, guard g) {
            REQUIRE_MESSAGE(!problem, problem.message());
            tokens.push_back(g.fencing_token()); // and releases it
        });
    const auto queued = [&] { return direct.stat(path)->num_children == int(crowd) + 1; };
    auto look = std::chrono::steady_clock::now();
    REQUIRE(watch.run_until(
        [&] {
            if (std::chrono::steady_clock::now() < look) return false;
            look = std::chrono::steady_clock::now() + 50ms;
            return queued();
        },
        60s));
    const auto read = start<get_result>([&](auto token) { zk.get(other, std::move(token)); });
    REQUIRE(watch.run_until([&] { return read->done(); }, 10s));
    const auto joining = watch.take_ms();
    const auto each = (rss_bytes() - memory_before) / crowd;
    CHECK(threads() == threads_before);
    CHECK(tokens.empty());

    direct.remove(other);
    REQUIRE(watch.run_until([&] { return tokens.size() == crowd; }, 60s));
    const auto serving = watch.take_ms();
    CHECK(std::is_sorted(tokens.begin(), tokens.end()));
    CHECK(std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end());
    CHECK(threads() == threads_before);

    std::printf("%zu waiters: longest handler %.1f ms while joining, %.1f ms while served; "
                "%zu bytes for each\n",
                crowd, joining, serving, each);
    if (measured) {
        CHECK(joining <= limit_ms);
        CHECK(serving <= limit_ms);
        CHECK(each <= 4096);
    }
    CHECK(watch.run_until([&] { return queue_at(direct, path).empty(); }, 10s));
    const auto closed = start([&](auto token) { zk.close(std::move(token)); });
    REQUIRE(watch.run_until([&] { return closed->done(); }, 10s));
}
