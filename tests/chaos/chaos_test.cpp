// Three ZooKeeper servers, clients in several processes, and random faults of both.
//
//     chaos_test [--seconds=N] [--seed=N] [--workers=N] [--session=MILLISECONDS]
//
// or PADDOCK_CHAOS_SECONDS and so on, in the environment; doctest's own options work as well. The
// list of faults is printed after a failure, or if PADDOCK_CHAOS_DIARY is set.

#include "chaos.hpp"
#include "support/certificates.hpp"
#include "support/foreigner.hpp"
#include "support/time_scale.hpp"
#include "support/zk_ensemble.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

bool is_encrypted(std::size_t post) { return PADDOCK_CHAOS_TLS != 0 && post % 4 >= 2; }

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

class zk_servers final : public chaos_servers {
public:
    explicit zk_servers(const chaos_terms& terms) : session_(terms.lease), tick_(session_ / 5) {
        zk_server_options options{.tick_time = tick_};
        if (PADDOCK_CHAOS_TLS) options.tls = tls_of_server{.identity = issuer_.issue()};
        ensemble_.emplace(options);
    }

    crew_terms terms() override {
        crew_terms all;
        all.program = PADDOCK_CHAOS_WORKER;
        all.locks = {"one", "two", "three", "sticky", "key", "shared", "permits"};
        all.servers = [this](std::size_t post) {
            std::vector<std::uint16_t> ports;
            for (std::size_t i = 0; i < zk_ensemble::size; ++i) {
                const auto& one = ensemble_->server(i);
                ports.push_back(is_encrypted(post) ? one.port() : one.plain_port());
            }
            return ports;
        };
        all.words = [this](std::size_t post) -> std::vector<std::string> {
            // Every other client is told the tickTime.
            const auto tick = post % 2 == 0 ? tick_ : 0ms;
            return {"session=" + std::to_string(session_.count()),
                    "tick=" + std::to_string(tick.count()), "permits=" + std::to_string(permits()),
                    "ca=" + (is_encrypted(post) ? issuer_.ca_file() : std::string())};
        };
        return all;
    }

    int permits() const override { return 2; }

    /// One at a time, and with a pause behind it: two of three must be able to work now and then.
    void disturb(faults& all) override {
        if (servers_busy_ || faults::clock::now() < servers_rest_until_) return;
        const auto i =
            all.any(2) == 0 ? ensemble_->leader().value_or(0) : all.any(zk_ensemble::size);
        const bool leads = ensemble_->leads(i);
        const auto victim = "server " + std::to_string(i) + (leads ? " (leader)" : "");
        const auto rest = [this, most = all.between(0, 6000)] {
            servers_rest_until_ = faults::clock::now() + most;
        };
        switch (all.any(4)) {
        case 0:
            ensemble_->server(i).kill();
            return all.begin("server killed", victim, servers_busy_, all.percent(5, 100),
                             [this, i, rest] {
                                 ensemble_->server(i).start();
                                 rest();
                             });
        case 1:
            ensemble_->pause(i);
            return all.begin("server stopped", victim, servers_busy_, all.percent(5, 150),
                             [this, i, rest] {
                                 ensemble_->resume(i);
                                 rest();
                             });
        default:
            static const std::pair<severance, const char*> ways[] = {
                {severance::reset, " cut off by resets"},
                {severance::silence, " cut off in silence"},
                {severance::half, " cut off unheard"}};
            const auto& [how, called] = ways[all.any(3)];
            const bool wholly = all.any(3) != 0;
            if (wholly)
                ensemble_->cut_off(i, how);
            else
                ensemble_->sever(i, (i + 1) % zk_ensemble::size, how);
            const std::string kind = std::string(leads ? "leader" : "follower") + called;
            return all.begin(kind, victim + (wholly ? "" : ", from one"), servers_busy_,
                             all.percent(25, 300), [this, rest] {
                                 ensemble_->heal();
                                 rest();
                             });
        }
    }

    void await_health() override { ensemble_->await_leader(); }

    /// The sessions of killed processes have ended. A server whose role changes may accept a
    /// request and never answer it: it is asked again, as long as sessions may last.
    void check_nothing_is_left() override {
        const auto deadline = steady_clock::now() + 3 * session_ + scaled(20s);
        std::vector<std::string> left;
        do {
            try {
                foreigner by(ensemble_->server(ensemble_->await_leader()).plain_address(),
                             {.deadline = 3s});
                left = ephemerals(by, "/chaos");
            } catch (const zk_failure& failure) {
                left = {std::string("what cannot be read, because of ") + failure.what() + ','};
            }
            std::this_thread::sleep_for(50ms);
        } while (!left.empty() && steady_clock::now() < deadline);
        for (const auto& node : left)
            FAIL_CHECK(node << " is left");
    }

private:
    const std::chrono::milliseconds session_, tick_;
    authority issuer_;
    std::optional<zk_ensemble> ensemble_{};
    bool servers_busy_ = false;
    faults::clock::time_point servers_rest_until_{};
};

} // namespace

int main(int argc, char** argv) {
    chaos_terms terms;
    terms.lease_name = "session";
    return run_chaos(argc, argv, terms,
                     [](const auto& chosen) { return std::make_unique<zk_servers>(chosen); });
}
