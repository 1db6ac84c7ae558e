#pragma once

#include "queue/lock_queues.hpp"
#include "rules/own_directories.hpp"
#include "session/make_core.hpp"
#include "sim/c_client.hpp"
#include "sim/host.hpp"
#include "sim/timeline.hpp"

#include <paddock/paddock.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>

namespace paddock::test::sim {

using namespace std::chrono_literals;

/// One healthy server, and one client.
struct stage {
    stage() : core(make_core()) {}
    ~stage() { here->end(); }

    std::shared_ptr<paddock::detail::core> make_core() {
        paddock::detail::world outside{make_environment(here),
                                       [here = here] { return std::make_unique<c_client>(here); },
                                       &timeline::latest_now,
                                       {"keys", 1000}};
        return paddock::detail::make_core(here->io().get_executor(), std::move(outside),
                                          "10.0.0.1:2181", {});
    }

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
    std::size_t directories() const {
        const auto& nodes = servers.truth().nodes();
        return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [](auto& one) {
            return one.second.data == rules::own_directory_data;
        }));
    }
    void check_that_nothing_is_left() {
        until([&] { return queues() == 0; });
        CHECK(lock_nodes() == 0);
        until([&] { return directories() == 0; });
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

} // namespace paddock::test::sim
