// Random histories of redis/rules: clients that obey them, and servers that lose their data,
// restart and have clocks of their own. `--seeds 1000000` runs so many, from `--first N`.

#include "sim/redis/contender.hpp"
#include "sim/runner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace paddock::test::sim;
using namespace std::chrono_literals;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t normal_run = 500;
#else
constexpr std::uint64_t normal_run = 20'000;
#endif

using habits = redis_contender::habits;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

/// One lock, its clients and servers, and what befalls them.
class race {
public:
    explicit race(std::uint64_t seed, habits planted = {}) : world_(seed) {
        auto& chance = world_.chance;
        const std::array<std::size_t, 5> sizes{1, 1, 3, 3, 5};
        const auto longest = 1000ms * (1 + chance.below(4));
        world_.latency = chance.between(200us, 5ms);
        world_.servers.resize(sizes[chance.next() % sizes.size()]);
        const int count = chance.one_in(10) ? 30 : 1 + chance.below(8);
        for (int n = 0; n < count; ++n) {
            auto how = planted;
            how.max_ttl = longest;
            how.ttl = longest / (1 + chance.below(4));
            how.held_for = chance.between(0ms, chance.one_in(3) ? 3 * how.ttl : 20ms);
            how.times = 1 + chance.below(4);
            add(how);
        }
        if (!chance.one_in(4)) misfortune(); // else nothing goes wrong
    }

    void run() {
        for (const auto& one : all_)
            world_.time.after(world_.chance.between(0ms, 200ms), [&one] { one->begin(); });
        step_until(end_of_faults_, [] { return false; });
        step_until(end_of_faults_ + 1h, [this] {
            return std::all_of(all_.begin(), all_.end(),
                               [](const auto& one) { return one->done(); });
        });
        for (const auto& one : all_)
            if (!one->done()) fail(one->name() + " waits for ever");
        const auto end = world_.time.now() + 6s; // the longest time to live, and a slew
        step_until(end, [] { return false; });
        for (auto& server : world_.servers)
            if (server.has_key(end)) fail("a key is left that is older than its time to live");
    }

private:
    void add(const habits& how) {
        all_.push_back(std::make_unique<redis_contender>(
            world_, 'c' + std::to_string(all_.size()) + '-', how));
        auto& one = *all_.back();
        world_.listeners.push_back([&one] { one.hear(); });
        one.granted = [this, &one](std::int64_t token) {
            if (token <= last_token_)
                fail("the token " + std::to_string(token) + " of " + one.name() + " is not above " +
                     std::to_string(last_token_));
            last_token_ = token;
            look(one);
        };
        one.extended = [this, &one] { look(one); };
    }

    void look(const redis_contender& latest) {
        for (const auto& other : all_)
            if (other.get() != &latest && other->holds())
                fail(other->name() + " and " + latest.name() + " hold the lock");
    }

    template <typename Predicate>
    void step_until(time_point end, Predicate reached) {
        world_.time.at(end, [] {});
        while (world_.time.now() < end && !reached()) {
            if (!world_.time.step()) fail("time stands still");
            if (world_.time.steps() > 10'000'000) fail("there is no end to it");
        }
    }

    void misfortune() {
        if (world_.time.now() >= end_of_faults_) return;
        befall();
        world_.time.after(world_.chance.between(1ms, 400ms), [this] { misfortune(); });
    }

    void befall() {
        auto& chance = world_.chance;
        const auto now = world_.time.now();
        auto& client = *chance.any_of(all_);
        auto& server = chance.any_of(world_.servers);
        switch (chance.below(5)) {
        case 0:
            return client.lose_connections();
        case 1:
            return client.pause(chance.between(1ms, 3s));
        case 2:
            return server.slew(now, chance.below(84));
        case 3:
            return chance.one_in(3) ? server.forget() : void();
        default:
            if (chance.one_in(10)) server.set_by_others(now, "another library", 500ms);
        }
    }

    redis_world world_;
    std::vector<std::unique_ptr<redis_contender>> all_;
    std::int64_t last_token_ = 0;
    time_point end_of_faults_ = world_.time.now() + 20s;
};

std::string fault_of(std::uint64_t seed, const habits& planted = {}) {
    race one(seed, planted);
    try {
        one.run();
    } catch (const std::exception& fault) {
        return fault.what();
    }
    return {};
}

} // namespace

TEST_CASE("no two clients hold the lock, its tokens grow, and every client gets it") {
    const auto first = options().first;
    const auto count = options().seeds.value_or(normal_run);
    for (auto seed = first; seed < first + count; ++seed)
        if (const auto fault = fault_of(seed); !fault.empty())
            FAIL("--first " << seed << " --seeds 1: " << fault);
}

// The test of the test.
TEST_CASE("clients that break a rule are caught") {
    struct planted_bug {
        std::string name;
        habits how;
        std::string promise;
    };
    const std::array planted{
        planted_bug{"one value for all attempts", {.reuses_value = true}, "the token"},
        planted_bug{
            "a server is of age after one's own ttl", {.waits_own_ttl = true}, "hold the lock"},
        planted_bug{
            "the token of a quorum stays with one server", {.forgets_token = true}, "the token"},
        planted_bug{"votes last as long as their keys", {.ignores_margin = true}, "hold the lock"},
    };
    constexpr std::uint64_t enough = 100'000;
    for (const auto& bug : planted) {
        CAPTURE(bug.name);
        std::uint64_t seed = 0;
        std::string fault;
        while (fault.find(bug.promise) == std::string::npos && ++seed < enough)
            fault = fault_of(seed, bug.how);
        MESSAGE(bug.name << ": caught by seed " << seed << ": " << fault);
        CHECK(fault.find(bug.promise) != std::string::npos);
    }
}

namespace {

/// The commands for each grant when so many clients want a lock of three servers at the same time.
std::size_t cost_among(int clients, habits planted = {}) {
    redis_world world(1);
    world.latency = 1ms;
    world.servers.resize(3);
    std::vector<std::unique_ptr<redis_contender>> all;
    for (int n = 0; n < clients; ++n) {
        auto how = planted;
        how.ttl = how.max_ttl = 3s;
        how.held_for = 5ms;
        auto& one = *all.emplace_back(
            std::make_unique<redis_contender>(world, std::to_string(n) + '-', how));
        world.listeners.push_back([&one] { one.hear(); });
        one.granted = [](std::int64_t) {};
        one.extended = [] {};
        one.begin();
    }
    const auto done = [](const auto& one) { return one->done(); };
    while (!std::all_of(all.begin(), all.end(), done))
        REQUIRE(world.time.step());
    return world.commands / static_cast<std::size_t>(clients);
}

} // namespace

TEST_CASE("a grant does not cost more when many clients wait than when they ask in turn") {
    // Alone, a client sends 3 acquires, 2 renewals and 3 releases. After each release the others
    // ask the first server, but not all of them before the next one. In virtual time each run has
    // the same figures.
    constexpr int clients = 100;
    constexpr std::size_t most = 8 + clients * 2 / 5;
    const auto usual = cost_among(clients);
    MESSAGE(usual << " commands for each grant");
    CHECK(usual < most);
    const auto loud = cost_among(clients, {.publishes_failures = true});
    MESSAGE(loud << " if a failed attempt tells of its releases");
    CHECK(loud > most);
}
