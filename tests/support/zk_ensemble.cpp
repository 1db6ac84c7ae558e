#include "zk_ensemble.hpp"

#include "time_scale.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace paddock::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::size_t no_server = zk_ensemble::size;

std::string local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

} // namespace

zk_ensemble::zk_ensemble(zk_server_options options) {
    make_ways();
    for (std::size_t i = 0; i < size; ++i)
        servers_[i] = std::make_unique<zk_server>(options_of(i, options));
    await_leader();
}

zk_ensemble::~zk_ensemble() = default;

/// A server that dials one with a higher number is dialled back at the address that it has
/// announced: that address must be the way back.
void zk_ensemble::make_ways() {
    constexpr std::size_t head = 8 + 8 + 4; // protocol, id, length of the address
    for (std::size_t from = 0; from < size; ++from)
        for (std::size_t to = 0; to < from; ++to) {
            auto& down = from_to(from, to);
            auto& up = from_to(to, from);
            down.quorum = &room_.add(quorum_ports_[to].number());
            up.quorum = &room_.add(quorum_ports_[from].number());
            down.election = &room_.add(election_ports_[to].number());
            const auto own = local(election_ports_[to].number());
            up.election = &room_.add(election_ports_[from].number(),
                                     {own, down.election->address(), head + own.size()});
        }
}

zk_server_options zk_ensemble::options_of(std::size_t i, zk_server_options common) {
    common.id = static_cast<int>(i) + 1;
    common.config.insert(common.config.end(), {"initLimit=5", "syncLimit=5"});
    for (std::size_t other = 0; other < size; ++other) {
        const auto& there = from_to(i, other);
        const bool own = other == i;
        const auto quorum = own ? quorum_ports_[i].number() : there.quorum->port();
        const auto election = own ? election_ports_[i].number() : there.election->port();
        common.config.push_back("server." + std::to_string(other + 1) + '=' + local(quorum) + ':' +
                                std::to_string(election));
    }
    common.java.insert(common.java.end(), {"-Dzookeeper.admin.enableServer=false",
                                           // A server that looks for a leader sends a message once
                                           // a second at least.
                                           "-Dzookeeper.fastleader.maxNotificationInterval=1000"});
    return common;
}

std::string zk_ensemble::addresses() const {
    std::string all;
    for (const auto& each : servers_)
        all += (all.empty() ? "" : ",") + each->address();
    return all;
}

bool zk_ensemble::leads(std::size_t i) const {
    return !paused_[i] && servers_[i]->running() &&
           servers_[i]->ask("srvr").find("Mode: leader") != std::string::npos;
}

std::optional<std::size_t> zk_ensemble::leader() const {
    std::size_t found = no_server;
    for (std::size_t i = 0; i < size; ++i)
        if (leads(i)) {
            if (found != no_server) return {};
            found = i;
        }
    if (found == no_server) return {};
    return found;
}

std::size_t zk_ensemble::await_leader() {
    const auto deadline = steady_clock::now() + scaled(60s);
    while (steady_clock::now() < deadline) {
        const bool all = std::all_of(servers_.begin(), servers_.end(),
                                     [](const auto& each) { return each->answers(); });
        if (const auto found = leader(); all && found) return *found;
        std::this_thread::sleep_for(50ms);
    }
    give_up();
}

void zk_ensemble::give_up() const {
    std::string text = "the ensemble does not come together; the logs of its servers end with:";
    for (const auto& each : servers_)
        text += "\n--- " + each->address() + '\n' + each->log_tail();
    throw std::runtime_error(text);
}

void zk_ensemble::sever(std::size_t off, std::size_t other, severance how) {
    for (const bool dials : {true, false}) {
        const auto& between = dials ? from_to(off, other) : from_to(other, off);
        for (auto* link : {between.quorum, between.election}) {
            if (how == severance::silence) {
                link->black_hole(true);
                continue;
            }
            link->refuse(true);
            if (how == severance::reset)
                link->cut_all(cut::rst);
            else
                link->half_open(dials ? side::server : side::client);
        }
    }
}

void zk_ensemble::cut_off(std::size_t off, severance how) {
    for (std::size_t other = 0; other < size; ++other)
        if (other != off) sever(off, other, how);
}

void zk_ensemble::heal() {
    for (auto& row : ways_)
        for (auto& each : row)
            for (auto* link : {each.quorum, each.election})
                if (link) link->heal();
}

void zk_ensemble::pause(std::size_t i) {
    paused_[i] = true;
    servers_[i]->pause();
}

void zk_ensemble::resume(std::size_t i) {
    servers_[i]->resume();
    paused_[i] = false;
}

} // namespace paddock::test
