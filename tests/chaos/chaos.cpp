#include "chaos.hpp"

#include "checker.hpp"
#include "client_faults.hpp"
#include "support/time_scale.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::test {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

chaos_terms chosen;
start_servers start;

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

void inject(faults& all, client_faults& clients, chaos_servers& servers) {
    // A stopped or killed holder stops the waiters behind it until its lock is over.
    const auto what = all.any(20);
    if (what < chosen.link_faults)
        clients.disturb_link();
    else if (what < chosen.link_faults + chosen.worker_faults)
        clients.disturb_worker();
    else
        servers.disturb(all);
}

void rage(crew& workers, faults& trouble, chaos_servers& servers) {
    client_faults clients(trouble, workers);
    const auto end = steady_clock::now() + chosen.duration;
    auto next = steady_clock::now();
    while (steady_clock::now() < end) {
        trouble.take_back();
        if (steady_clock::now() >= next) {
            inject(trouble, clients, servers);
            next = steady_clock::now() + trouble.between(100, chosen.longest_rest);
        }
        workers.check_alive();
        std::this_thread::sleep_for(10ms);
    }
    trouble.take_back(true);
}

void report(const findings& found, const faults& trouble) {
    std::printf("seed %u, %d s of faults, %zu processes, %s %d ms\n", chosen.seed,
                static_cast<int>(chosen.duration.count()), chosen.workers,
                chosen.lease_name.c_str(), static_cast<int>(chosen.lease.count()));
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
bool judge(const crew& workers, const faults& trouble, int permits) {
    const auto holds = workers.holds();
    const auto found = check(holds, permits);
    report(found, trouble);
    for (const auto& each : found.violations)
        FAIL_CHECK(each);
    const auto shares = [](const hold_record& one) { return one.kind != share::exclusive; };
    if (std::any_of(holds.begin(), holds.end(), shares)) CHECK(found.together > 1);
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
    const auto option = "--" + name;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == option && i + 1 < argc) grant(std::stoul(argv[i + 1]));
        if (word.starts_with(option + '=')) grant(std::stoul(word.substr(option.size() + 1)));
    }
}

} // namespace

TEST_CASE("holds exclude each other under faults, and every process goes on after them") {
    const auto servers = start(chosen);
    auto terms = servers->terms();
    terms.size = chosen.workers;
    terms.seed = chosen.seed;
    crew workers(std::move(terms));
    faults trouble(chosen.seed, chosen.lease);
    std::string failed;
    try {
        until_progress(workers, "before there are faults");
        rage(workers, trouble, *servers);
        servers->await_health();
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
    const bool well = judge(workers, trouble, servers->permits()) && failed.empty();
    if (!well || std::getenv("PADDOCK_CHAOS_DIARY")) show(trouble.diary());
    REQUIRE_MESSAGE(failed.empty(), failed);
    servers->check_nothing_is_left();
}

int run_chaos(int argc, char** argv, chaos_terms terms, start_servers how) {
    chosen = std::move(terms);
    start = std::move(how);
    read_option(
        "seed", [](auto n) { chosen.seed = static_cast<std::uint32_t>(n); }, argc, argv);
    read_option(
        "seconds", [](auto n) { chosen.duration = std::chrono::seconds(n); }, argc, argv);
    read_option(
        "workers", [](auto n) { chosen.workers = n; }, argc, argv);
    read_option(
        chosen.lease_name, [](auto n) { chosen.lease = std::chrono::milliseconds(n); }, argc, argv);
    std::printf("seed %u\n", chosen.seed);
    std::fflush(stdout);
    doctest::Context context(argc, argv);
    return context.run();
}

} // namespace paddock::test
