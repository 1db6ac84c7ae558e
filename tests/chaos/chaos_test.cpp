// Three servers, clients in several processes, and random faults of both.
//
//     chaos_test [--seconds=N] [--seed=N] [--workers=N] [--session=MILLISECONDS]
//
// or PADDOCK_CHAOS_SECONDS and so on, in the environment; doctest's own options work as well. The
// list of faults is printed after a failure, or if PADDOCK_CHAOS_DIARY is set.

#define DOCTEST_CONFIG_IMPLEMENT
#include "checker.hpp"
#include "crew.hpp"
#include "faults.hpp"
#include "support/foreigner.hpp"
#include "support/time_scale.hpp"
#include "support/zk_ensemble.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

struct run_options {
    std::uint32_t seed = std::random_device()();
    std::chrono::seconds duration = 120s;
    crew_terms crew{};
} chosen;

double in_seconds(boot_clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// Checks meanwhile that the processes live; throws when it takes too long.
void until(crew& workers, const std::string& what, const std::function<bool()>& predicate) {
    const auto deadline = steady_clock::now() + scaled(60s);
    while (!predicate()) {
        if (steady_clock::now() > deadline) throw std::runtime_error("not in time: " + what);
        workers.check_alive();
        std::this_thread::sleep_for(50ms);
    }
}

/// Waits until each process was granted each lock some more. Returns how long that took.
boot_clock::duration until_progress(crew& workers, const char* when) {
    const auto begin = boot_clock::now();
    const auto before = workers.grants();
    until(workers, std::string("every process makes progress ") + when, [&] {
        const auto now = workers.grants();
        return std::all_of(now.begin(), now.end(), [&](const auto& one) {
            const auto old = before.find(one.first);
            return old == before.end() || one.second > old->second;
        });
    });
    return boot_clock::now() - begin;
}

std::vector<std::string> ephemerals(foreigner& by, const std::string& directory) {
    constexpr auto container = std::numeric_limits<std::int64_t>::min();
    std::vector<std::string> all;
    for (const auto& name : by.children(directory)) {
        const auto node = directory + '/' + name;
        const auto stat = by.stat(node);
        if (!stat) continue;
        const bool is_directory = stat->ephemeral_owner == 0 || stat->ephemeral_owner == container;
        if (!is_directory) all.push_back(node);
        if (!is_directory) continue;
        const auto below = ephemerals(by, node);
        all.insert(all.end(), below.begin(), below.end());
    }
    return all;
}

/// The sessions of killed processes have ended.
void until_nothing_is_left(zk_ensemble& ensemble) {
    foreigner by(ensemble.server(ensemble.await_leader()).address());
    const auto deadline = steady_clock::now() + 3 * chosen.crew.session + scaled(20s);
    auto left = ephemerals(by, "/chaos");
    while (!left.empty() && steady_clock::now() < deadline) {
        std::this_thread::sleep_for(50ms);
        left = ephemerals(by, "/chaos");
    }
    for (const auto& node : left)
        FAIL_CHECK(node << " is left");
}

void rage(crew& workers, faults& trouble) {
    const auto end = steady_clock::now() + chosen.duration;
    auto next = steady_clock::now();
    while (steady_clock::now() < end) {
        trouble.take_back();
        if (steady_clock::now() >= next) {
            trouble.inject();
            next = steady_clock::now() + trouble.pause();
        }
        workers.check_alive();
        std::this_thread::sleep_for(10ms);
    }
    trouble.take_back(true);
}

void report(const findings& found, const faults& trouble) {
    std::printf("seed %u, %d s of faults, %zu processes, session timeout %d ms\n", chosen.seed,
                static_cast<int>(chosen.duration.count()), chosen.crew.size,
                static_cast<int>(chosen.crew.session.count()));
    std::printf("holds: %zu", found.holds);
    for (const auto& [lock, count] : found.grants)
        std::printf(", %s %zu", lock.c_str(), count);
    std::printf("; lost while held: %zu; their process was killed: %zu\n", found.lost,
                found.unfinished);
    int all = 0;
    for (const auto& [kind, count] : trouble.counts())
        all += count;
    std::printf("faults: %d\n", all);
    for (const auto& [kind, count] : trouble.counts())
        std::printf("  %4d %s\n", count, kind.c_str());
    std::printf("longest time without progress: %.2f s, from %lld\n",
                in_seconds(found.longest_pause),
                static_cast<long long>(found.pause_began.time_since_epoch().count()));
    std::printf("violations: %zu\n", found.violations.size());
    std::fflush(stdout);
}

/// Returns whether all is well.
bool judge(const crew& workers, const faults& trouble) {
    const auto found = check(workers.holds(), chosen.crew.permits);
    report(found, trouble);
    for (const auto& each : found.violations)
        FAIL_CHECK(each);
    CHECK(found.together > 1);
    return found.violations.empty();
}

void show(const std::vector<std::string>& diary) {
    for (const auto& line : diary)
        std::printf("%s\n", line.c_str());
}

void read_option(const std::string& name, const std::function<void(unsigned long)>& grant, int argc,
                 char** argv) {
    auto variable = "PADDOCK_CHAOS_" + name;
    for (auto& letter : variable)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (const char* value = std::getenv(variable.c_str())) grant(std::stoul(value));
    const auto option = "--" + name + '=';
    for (int i = 1; i < argc; ++i)
        if (const std::string word = argv[i]; word.starts_with(option))
            grant(std::stoul(word.substr(option.size())));
}

} // namespace

TEST_CASE("holds exclude each other under faults, and every process goes on after them") {
    zk_server_options servers;
    servers.tick_time = chosen.crew.tick;
    zk_ensemble ensemble(servers);
    crew workers(ensemble, chosen.crew);
    faults trouble(ensemble, workers, chosen.seed);
    std::string failed;
    try {
        until_progress(workers, "before there are faults");
        rage(workers, trouble);
        ensemble.await_leader();
        const auto took = until_progress(workers, "when the faults are over");
        std::printf("after the faults every process made progress within %.2f s\n",
                    in_seconds(took));
        workers.tell_to_stop();
        const auto deadline = steady_clock::now() + scaled(60s);
        while (!workers.done() && steady_clock::now() < deadline)
            std::this_thread::sleep_for(20ms);
        if (!workers.done()) failed = "the processes do not come to an end";
    } catch (const std::exception& e) {
        failed = e.what();
    }
    const bool well = judge(workers, trouble) && failed.empty();
    if (!well || std::getenv("PADDOCK_CHAOS_DIARY")) show(trouble.diary());
    REQUIRE_MESSAGE(failed.empty(), failed);
    until_nothing_is_left(ensemble);
}

int main(int argc, char** argv) {
    read_option(
        "seed", [](auto n) { chosen.seed = static_cast<std::uint32_t>(n); }, argc, argv);
    read_option(
        "seconds", [](auto n) { chosen.duration = std::chrono::seconds(n); }, argc, argv);
    read_option(
        "workers", [](auto n) { chosen.crew.size = n; }, argc, argv);
    read_option(
        "session", [](auto n) { chosen.crew.session = std::chrono::milliseconds(n); }, argc, argv);
    chosen.crew.tick = chosen.crew.session / 5;
    chosen.crew.seed = chosen.seed;
    std::printf("seed %u\n", chosen.seed);
    std::fflush(stdout);
    doctest::Context context(argc, argv);
    return context.run();
}
