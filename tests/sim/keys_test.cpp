// A lock family with very many keys: the client keeps nothing of a key whose contenders have left.

#include "queue/lock_queues.hpp"
#include "session/make_core.hpp"
#include "sim/c_client.hpp"
#include "sim/host.hpp"
#include "sim/timeline.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test::sim;
using namespace std::chrono_literals;

namespace {

constexpr int many = 10'000;

/// One healthy server, and one client.
struct stage {
    stage() {
        paddock::detail::world outside{make_environment(here),
                                       [here = here] { return std::make_unique<c_client>(here); },
                                       &timeline::latest_now};
        core = paddock::detail::make_core(here->io().get_executor(), std::move(outside),
                                          "10.0.0.1:2181", {});
    }
    ~stage() { here->end(); }

    /// Lets time pass, a minute at most, until it is so.
    template <typename Predicate>
    void until(Predicate reached) {
        here->wake();
        for (const auto limit = time.now() + 60s; !reached() && time.now() < limit;)
            if (!time.step()) FAIL("time stands still");
        REQUIRE(reached());
    }
    std::size_t queues() const { return core->use<paddock::detail::lock_queues>().size(); }
    std::size_t lock_nodes() const {
        const auto& nodes = servers.truth().nodes();
        return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [](auto& one) {
            return one.second.stat.ephemeral_owner != 0;
        }));
    }
    void check_that_nothing_is_left() {
        until([&] { return queues() == 0; });
        CHECK(lock_nodes() == 0);
        CHECK(core->claims().count() == 0);
        CHECK(core->node_budget().used() == 0);
        CHECK(core->watches().bytes() == 0);
        CHECK(servers.watches().empty());
    }

    timeline time;
    dice chance{1};
    ensemble servers{time, chance, {.servers = 1}};
    std::shared_ptr<host> here = std::make_shared<host>(servers, "A");
    std::shared_ptr<paddock::detail::core> core;
};

std::string key_of(int n) { return "article " + std::to_string(n); }

} // namespace

TEST_CASE("ten thousand keys that were locked together leave nothing") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    std::vector<guard> guards;
    for (int n = 0; n < many; ++n)
        orders.lock(key_of(n), [&](error_code why, guard got) {
            REQUIRE_FALSE(why);
            guards.push_back(std::move(got));
        });
    s.until([&] { return guards.size() == many; });
    CHECK(std::all_of(guards.begin(), guards.end(), [](const guard& g) { return g.valid(); }));
    CHECK(s.queues() == many);
    CHECK(s.lock_nodes() == many);
    guards.resize(many / 2);
    s.until([&] { return s.queues() == many / 2; });
    guards.clear();
    s.check_that_nothing_is_left();
}

TEST_CASE("ten thousand keys, one after the other, leave nothing and never many") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    std::size_t most = 0;
    bool over = false;
    asio::co_spawn(
        s.here->io(),
        [&]() -> asio::awaitable<void> {
            for (int n = 0; n < many; ++n) {
                guard held = co_await orders.lock(key_of(n));
                const guard none = co_await orders.try_lock(key_of(n));
                CHECK_FALSE(none);
                most = std::max(most, s.queues());
                co_await held.unlock();
            }
        },
        [&](std::exception_ptr failed) {
            CHECK_FALSE(failed);
            over = true;
        });
    s.until([&] { return over; });
    CHECK(most < 10);
    s.check_that_nothing_is_left();
}

TEST_CASE("calls that are refused, or given up, leave nothing either") {
    stage s;
    const auto zk = paddock::detail::access::make<client>(s.core);
    const lock_family orders(zk, "/orders");
    const shared_lock_family prices(zk, "/prices");
    std::vector<guard> guards;
    int refused = 0, waiting = 0, given_up = 0;
    const auto keep = [&](error_code why, guard got) {
        CHECK_FALSE(why);
        guards.push_back(std::move(got));
    };
    constexpr int some = 100;
    for (int n = 0; n < some; ++n) {
        orders.lock(key_of(n), keep);
        prices.lock_shared(key_of(n), keep);
    }
    s.until([&] { return guards.size() == 2 * some; });
    for (int n = 0; n < some; ++n) {
        const auto empty = [&](error_code why, const guard& got) {
            CHECK_FALSE(why);
            CHECK_FALSE(got);
            ++given_up;
        };
        orders.try_lock(key_of(n), empty);
        orders.try_lock_for(key_of(n), 1s, empty);
        prices.try_lock(key_of(n), empty);
        prices.try_lock_for(key_of(n), 1s, empty);
        prices.contenders(key_of(n), [&](error_code why, const std::vector<contender>& all) {
            CHECK_FALSE(why);
            CHECK(!all.empty());
            ++waiting;
        });
        orders.lock("", [&](error_code why, const guard&) {
            CHECK(why == errc::bad_argument);
            ++refused;
        });
    }
    s.until([&] { return refused + waiting + given_up == 6 * some; });
    CHECK(refused == some);
    CHECK(waiting == some);
    CHECK(s.queues() == 2 * some);
    guards.clear();
    s.check_that_nothing_is_left();
}
