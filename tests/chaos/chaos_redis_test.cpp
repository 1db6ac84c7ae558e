// Five Redis servers, clients in several processes, and random faults of both.
//
//     chaos_redis_test [--seconds=N] [--seed=N] [--workers=N] [--max_ttl=MILLISECONDS]
//
// and everything else as in chaos_test.cpp.

#include "chaos.hpp"
#include "support/certificates.hpp"
#include "support/redis_caller.hpp"
#include "support/redis_server.hpp"
#include "support/time_scale.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

using milliseconds = std::chrono::milliseconds;
using words = std::initializer_list<std::string_view>;

constexpr std::size_t size = 5;
constexpr std::size_t minority = size / 2;

/// The data is written to a file before the server answers, and so survives its process.
const std::vector<std::string> persistent{
    "--appendonly",     "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0",
    "--lua-time-limit", "100"};

bool is_encrypted(std::size_t post) { return PADDOCK_CHAOS_TLS != 0 && post % 4 >= 2; }

/// Repeats a command that the server cannot execute for the moment. A script still runs for a while
/// after SCRIPT KILL has said OK.
redis_caller::reply tell(const redis_server& one, words command) {
    const auto deadline = faults::clock::now() + scaled(30s);
    for (;;) {
        const auto said = redis_caller(one.plain_port())(command);
        if (!said.is_error()) return said;
        const bool passes = said.text.starts_with("LOADING") || said.text.starts_with("NOTBUSY") ||
                            said.text.starts_with("BUSY");
        if (!passes || faults::clock::now() > deadline)
            throw std::runtime_error(std::string(*command.begin()) + ": " + said.text);
        std::this_thread::sleep_for(5ms);
    }
}

class redis_servers final : public chaos_servers {
public:
    explicit redis_servers(const chaos_terms& terms) : max_ttl_(terms.lease) {
        for (std::size_t n = 0; n < size; ++n)
            all_.push_back(std::make_unique<member>(n, issuer_));
    }

    crew_terms terms() override {
        crew_terms all;
        all.program = PADDOCK_CHAOS_WORKER;
        all.locks = names;
        all.servers = [this](std::size_t post) {
            std::vector<std::uint16_t> ports;
            for (const auto& one : all_)
                ports.push_back(is_encrypted(post) ? one->server.port() : one->server.plain_port());
            return ports;
        };
        all.words = [this](std::size_t post) -> std::vector<std::string> {
            const auto ttl = post % 2 == 0 ? max_ttl_ : max_ttl_ / 2;
            return {"ttl=" + std::to_string(ttl.count()),
                    "max_ttl=" + std::to_string(max_ttl_.count()),
                    "ca=" + (is_encrypted(post) ? issuer_.ca_file() : std::string())};
        };
        return all;
    }

    void disturb(faults& all) override {
        auto& one = *all_[all.any(size)];
        if (one.busy) return;
        if (all.any(14) < 6) return may_become_young() ? lose_data(all, one) : void();
        switch (all.any(8)) {
        case 0:
            return stop(all, one, all.some_time());
        case 1:
            return stop_majority(all);
        case 2:
            return cut(all, one, "normal");
        case 3:
            return cut(all, one, "pubsub");
        case 4:
            tell(one.server, {"SCRIPT", "FLUSH"});
            return all.begin("scripts forgotten", one.name, one.busy, 0ms, [] {});
        case 5:
            return occupy(all, one);
        case 6:
            return fill(all, one);
        default:
            return delay(all, one);
        }
    }

    /// The keys of killed processes are over, and so are those of attempts that were given up.
    void check_nothing_is_left() override {
        const auto deadline = faults::clock::now() + max_ttl_ + scaled(2s);
        for (const auto& one : all_)
            for (const auto& name : names) {
                const auto is_left = [&] {
                    return tell(one->server, {"EXISTS", "chaos:" + name}).number != 0;
                };
                while (is_left() && faults::clock::now() < deadline)
                    std::this_thread::sleep_for(20ms);
                CHECK_MESSAGE(!is_left(), name << " is left on " << one->name);
            }
    }

private:
    struct member {
        member(std::size_t n, authority& issuer)
            : name("server " + std::to_string(n))
            , server(PADDOCK_CHAOS_TLS ? redis_server(persistent, {.identity = issuer.issue()})
                                       : redis_server(persistent)) {}

        std::string name;
        redis_server server;
        bool busy = false;
        /// Until then it may have no part in a grant: it could have forgotten something.
        faults::clock::time_point young_until{};
    };

    /// A quorum is of age, so that locks are granted now and then.
    bool may_become_young() const {
        const auto is_young = [](const auto& one) {
            return one->young_until > faults::clock::now();
        };
        return std::count_if(all_.begin(), all_.end(), is_young) < static_cast<long>(minority);
    }

    /// As far as they have no fault.
    std::vector<member*> majority() const {
        std::vector<member*> some;
        for (const auto& one : all_)
            if (!one->busy && some.size() <= minority) some.push_back(one.get());
        return some;
    }

    /// A fault after which the server is young.
    void begin(faults& all, const std::string& kind, member& one, milliseconds lasts,
               const std::function<void()>& undo) {
        one.young_until = faults::clock::time_point::max();
        all.begin(kind, one.name, one.busy, lasts, [this, &one, undo] {
            undo();
            one.young_until = faults::clock::now() + max_ttl_ * 3 / 2;
        });
    }

    /// Or look as if they had.
    void lose_data(faults& all, member& one) {
        switch (all.any(6)) {
        case 0:
            return kill(all, one, true, all.percent(5, 150));
        case 1:
            return kill(all, one, false, all.percent(5, 150));
        case 2:
            return forget(all, one);
        case 3:
            return follow(all, one);
        default:
            return lose_majority(all, all.any(2) == 0);
        }
    }

    void kill(faults& all, member& one, bool forgets, milliseconds lasts) {
        one.server.kill();
        if (forgets) one.server.wipe();
        begin(all, forgets ? "server killed, and its data lost" : "server killed", one, lasts,
              [&one] { one.server.start(); });
    }

    void forget(faults& all, member& one) {
        tell(one.server, {"FLUSHALL"});
        begin(all, "data deleted", one, 0ms, [] {});
    }

    /// Nobody knows the locks any more, but they are safe until their ends: the servers are young.
    void lose_majority(faults& all, bool by_kill) {
        for (auto* one : majority())
            if (by_kill)
                kill(all, *one, true, 0ms);
            else
                forget(all, *one);
    }

    /// Of a master that is not there, or of another one of the five, whose data it gets.
    void follow(faults& all, member& one) {
        const auto& other = *all_[all.any(size)];
        const bool is_there = !other.busy && &other != &one;
        const auto port = is_there ? std::to_string(other.server.plain_port()) : "1";
        tell(one.server, {"REPLICAOF", "127.0.0.1", port});
        begin(all, is_there ? "replica of another" : "replica of nothing", one, all.percent(5, 150),
              [&one] {
                  tell(one.server, {"REPLICAOF", "NO", "ONE"});
              });
    }

    void stop(faults& all, member& one, milliseconds lasts) {
        one.server.pause();
        all.begin("server stopped", one.name, one.busy, lasts, [&one] { one.server.resume(); });
    }

    void stop_majority(faults& all) {
        const auto lasts = all.some_time();
        for (auto* one : majority())
            stop(all, *one, lasts);
    }

    static void cut(faults& all, member& one, std::string_view which) {
        tell(one.server, {"CLIENT", "KILL", "TYPE", which});
        all.begin("connections cut: " + std::string(which), one.name, one.busy, 0ms, [] {});
    }

    /// The others hear BUSY.
    static void occupy(faults& all, member& one) {
        const auto by = std::make_shared<redis_caller>(one.server.plain_port());
        by->send({"EVAL", "while true do end", "0"});
        all.begin("script without end", one.name, one.busy, all.percent(5, 150), [&one, by] {
            tell(one.server, {"SCRIPT", "KILL"});
        });
    }

    static void fill(faults& all, member& one) {
        tell(one.server, {"CONFIG", "SET", "maxmemory", "1"});
        all.begin("out of memory", one.name, one.busy, all.percent(5, 150), [&one] {
            tell(one.server, {"CONFIG", "SET", "maxmemory", "0"});
        });
    }

    /// Commands are executed late.
    static void delay(faults& all, member& one) {
        const auto lasts = all.percent(5, 100);
        tell(one.server, {"CLIENT", "PAUSE", std::to_string(lasts.count()), "ALL"});
        all.begin("commands delayed", one.name, one.busy, lasts, [] {});
    }

    const std::vector<std::string> names{"one", "two", "three"};
    const milliseconds max_ttl_;
    authority issuer_;
    std::vector<std::unique_ptr<member>> all_;
};

} // namespace

int main(int argc, char** argv) {
    chaos_terms terms;
    terms.duration = 8s;
    terms.lease = 1500ms;
    terms.lease_name = "max_ttl";
    terms.link_faults = 6;
    terms.worker_faults = 5;
    terms.longest_rest = 300;
    return run_chaos(argc, argv, terms,
                     [](const auto& chosen) { return std::make_unique<redis_servers>(chosen); });
}
