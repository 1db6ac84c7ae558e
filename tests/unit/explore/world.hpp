#pragma once

#include "unit/explore/link.hpp"
#include "unit/explore/setup.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::explore {

struct move {
    enum kind {
        // of the network
        execute,
        hear,
        learn,
        connect,
        resume,
        renew,
        advance,
        late_create,
        search,
        // troubles
        lose,
        expire,
        lapse,
        kick,
        foreign_comes,
        foreign_writes,
        foreign_goes,
        grow,
        // of the application
        join,
        quit,
        release,
        downgrade
    };
    kind what;
    std::size_t index = 0; ///< of a client, an object of the rules, or a contender
    std::size_t variant = 0;
};

/// Some clients and an ensemble: the next moves of the network, and the troubles that may happen.
class world : public link::user {
protected:
    using stage = contender::stage;

    world(const setup& what, const story& note) : note(note), all(what.contenders), left(what) {
        zk.lags = what.lags;
        if (!what.empty) zk.make_directory();
        for (const auto& one : all)
            if (one.client >= clients)
                links_[clients].emplace(zk, static_cast<link::user&>(*this), note, clients),
                    ++clients;
    }
    ~world() = default;
    world(const world&) = default;

    virtual void waiting_moves(std::vector<move>& out) const = 0; ///< resume, renew, advance
    virtual void end_wait(const move& m) = 0;
    virtual void lapse(std::size_t client) = 0;
    virtual void grow() {}
    virtual std::string create_foreign() = 0;
    virtual bool foreign_may_come() const { return true; }
    virtual std::size_t kicks() const { return zk.living().size(); }
    virtual void kick(std::size_t variant) { zk.remove(zk.living()[variant]->name); }
    virtual void session_ended(std::size_t) {}
    virtual void before_execution(const request&) {}
    virtual void was_created(const reply&) {}

    link& client(std::size_t n) const { return const_cast<link&>(*links_[n]); }
    link& client_of(const contender& one) const { return client(one.client); }

    std::vector<move> network_moves() const {
        std::vector<move> out;
        for (std::size_t n = 0; n < clients; ++n) {
            const auto& c = client(n);
            if (!c.own().to_server.empty()) out.push_back({move::execute, n});
            if (!c.own().to_client.empty()) out.push_back({move::hear, n});
            if (zk.behind(c.own())) out.push_back({move::learn, n});
            if (!c.connected()) out.push_back({move::connect, n});
            if (!c.connected() && c.several_armed()) out.push_back({move::connect, n, 1});
        }
        waiting_moves(out);
        if (!late_.empty()) out.push_back({move::late_create});
        return out;
    }
    void network(const move& m) {
        if (m.what == move::execute) {
            before_execution(client(m.index).own().to_server.front());
            const auto& r = zk.execute(client(m.index).own());
            if (r.to.what == request::create && r.result == outcome::done) was_created(r);
        } else if (m.what == move::hear) {
            client(m.index).hear();
        } else if (m.what == move::learn) {
            zk.learn(client(m.index).own());
        } else if (m.what == move::connect) {
            client(m.index).connect(m.variant != 0);
        } else if (m.what == move::late_create) {
            const auto [n, r] = late_.front();
            late_.erase(late_.begin());
            note("a lost request is executed:", r.name);
            zk.write(client(n).own().id, r);
        } else if (m.what == move::search) { // the last search, a minute after the loss
            client(m.index).tainted = false;
            client(m.index).search();
        } else {
            end_wait(m);
        }
    }

    void trouble_moves(std::vector<move>& out) const {
        if (left.foreigners > 0 && foreign_may_come()) out.push_back({move::foreign_comes});
        if (!foreign.empty()) out.push_back({move::foreign_goes});
        if (!foreign.empty() && left.writes > 0) out.push_back({move::foreign_writes});
        if (left.growths > 0) out.push_back({move::grow});
        for (std::size_t how = 0; left.kicks > 0 && how < kicks(); ++how)
            out.push_back({move::kick, 0, how});
        for (std::size_t n = 0; n < clients; ++n) {
            const auto& c = client(n).own();
            for (std::size_t how = 0; how < 2 * (1 + may_be_late(n)); ++how)
                if (c.connected && left.losses > 0 && (how % 2 == 0 || !c.quiet()))
                    out.push_back({move::lose, n, how});
            if (c.connected && left.losses > 0 && !c.to_server.empty())
                out.push_back({move::lose, n, last_not_sent});
            if (!c.connected && c.id != 0 && left.expiries > 0) out.push_back({move::expire, n});
            if (left.lapses > 0) out.push_back({move::lapse, n});
        }
    }
    void trouble(const move& m) {
        if (m.what == move::lose) {
            lose(m.index, m.variant);
        } else if (m.what == move::expire) {
            --left.expiries;
            note("the session of client", m.index, "expires");
            session_ended(m.index);
            std::erase_if(late_, [&](const auto& one) { return one.first == m.index; });
            zk.close(client(m.index).own());
        } else if (m.what == move::lapse) {
            --left.lapses;
            lapse(m.index);
        } else if (m.what == move::kick) {
            --left.kicks;
            note("an administrator deletes node", m.variant);
            zk.kick_next();
            kick(m.variant);
            if (!zk.find(foreign)) foreign.clear();
        } else if (m.what == move::grow) {
            --left.growths;
            grow();
        } else if (m.what == move::foreign_comes) {
            --left.foreigners;
            zk.make_directory();
            foreign = create_foreign();
            note("foreign node", foreign);
        } else if (m.what == move::foreign_writes) {
            --left.writes;
            note("foreign node is written to");
            zk.touch(foreign);
        } else {
            note("foreign node goes");
            zk.remove(std::exchange(foreign, {}));
        }
    }
    static bool makes_nodes(const request& r) {
        return r.what == request::create || r.what == request::create_both;
    }
    std::size_t may_be_late(std::size_t n) const {
        const auto& asked = client(n).own().to_server;
        if (!left.late) return 0;
        return static_cast<std::size_t>(std::count_if(asked.begin(), asked.end(), makes_nodes));
    }
    /// Of a lost connection: the last request still waited to be sent, and is answered first.
    static constexpr std::size_t last_not_sent = 1000;
    /// `variant`: whether lost requests are answered first, and how many creates come late.
    void lose(std::size_t n, std::size_t variant) {
        --left.losses;
        if (variant == last_not_sent) return client(n).lose_connection(false, true);
        auto on_their_way = variant / 2;
        for (const auto& r : client(n).own().to_server)
            if (makes_nodes(r) && on_their_way > 0) --on_their_way, late_.emplace_back(n, r);
        client(n).lose_connection(variant % 2 != 0);
    }

    const story& note;
    ensemble zk;
    std::vector<contender> all;
    setup left;          ///< how often each trouble may yet come
    std::string foreign; ///< the foreign node, if there is one
    std::size_t clients = 0;
    /// Lost creates that are executed later, with their clients.
    std::vector<std::pair<std::size_t, request>> late_;

private:
    std::array<std::optional<link>, most_clients> links_;
};

} // namespace paddock::test::explore
