#pragma once

#include "support/broken_invariant.hpp"
#include "unit/explore/world.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::explore {

/// A world in which contenders join, quit and release, with checks after each step.
class scene : public world {
public:
    using world::world;
    virtual ~scene() = default;
    scene(const scene&) = default;
    scene& operator=(const scene&) = delete;

    std::vector<move> moves() const {
        auto out = network_moves();
        trouble_moves(out);
        for (std::size_t n = 0; n < all.size(); ++n)
            moves_of(n, out);
        for (std::size_t n = 0; out.empty() && n < clients; ++n)
            if (client(n).tainted) out.push_back({move::search, n});
        return out;
    }
    void play(const move& m) {
        if (m.what <= move::search)
            network(m);
        else if (m.what < move::join)
            trouble(m);
        else
            application(m);
        const auto broken = take_broken_invariant();
        must(broken.empty(), "a broken invariant", broken);
        check();
        if (network_moves().empty()) check_quiet();
    }
    /// Checks the state in which no move is left.
    void check_end() const {
        for (std::size_t n = 0; n < clients; ++n) {
            must(client(n).ids.count() == 0, "an id is claimed for ever");
            must(client(n).watches() == 0, "a watch is left behind");
            must(client(n).removals.empty(), "a delete was not done");
        }
        must(zk.living().empty(), "a node is left behind");
    }
    void see(shape& out) const {
        bool may_lose = left.losses > 0;
        for (std::size_t n = 0; n < clients; ++n)
            may_lose = may_lose || !client(n).connected();
        zk.see(out, may_lose);
        for (std::size_t n = 0; n < clients; ++n)
            client(n).see(out);
        out.add(left.losses, left.expiries, left.quits, left.foreigners, left.writes, left.kicks,
                left.lapses, left.downgrades, left.growths, late_.size());
        for (const auto& [n, r] : late_)
            out.add(n), explore::see(r, n, out);
        out.name(foreign);
        for (const auto& one : all)
            out.add(one.at, one.as);
        see_kind(out);
    }

protected:
    virtual void enter(std::size_t key) = 0;
    virtual void quit(std::size_t key) = 0;
    virtual void release(std::size_t key) = 0;
    virtual void downgrade(std::size_t) {}
    virtual bool may_downgrade(std::size_t) const { return false; }
    virtual void check() {}
    virtual void check_quiet() const = 0;
    virtual void see_kind(shape& out) const = 0;

    /// Each call is answered once.
    void answer(std::size_t key, stage what, bool rightly = true) {
        note("contender", key, what == stage::held ? "is granted" : "is not granted");
        must(rightly, "not granted, for no reason");
        must(client_of(all[key]).connected() || what != stage::held, "granted offline");
        must(std::exchange(all[key].at, what) == stage::waiting, "answered twice");
    }
    void lost(std::size_t key) {
        note("contender", key, "loses what it held");
        must(std::exchange(all[key].at, stage::lost) == stage::held, "lost what it did not hold");
    }
    void out(std::size_t key) {
        const auto before = std::exchange(all[key].at, stage::out);
        must(before == stage::left || before == stage::lost, "out without an answer");
    }
    /// A granted node exists, as far as the client can know.
    void check_node(const contender& one, const std::string& name) const {
        const auto* const node = zk.find(name);
        const auto& own = client_of(one).own();
        must(node ? node->owner == own.id : own.heard < zk.kicked_at, "granted without a node",
             name);
    }

private:
    void moves_of(std::size_t n, std::vector<move>& out) const {
        const auto at = all[n].at;
        if (at == stage::idle && may_join(n)) out.push_back({move::join, n});
        if (at == stage::waiting && left.quits > 0) out.push_back({move::quit, n});
        if (at == stage::held || at == stage::lost) out.push_back({move::release, n});
        if (at == stage::held && left.downgrades > 0 && may_downgrade(n))
            out.push_back({move::downgrade, n});
    }
    /// Two equal contenders join in their order: the other order is the same run with their clients
    /// exchanged. An immediate contender does not join without a connection.
    bool may_join(std::size_t n) const {
        const auto& b = all[n];
        if (b.immediate && !client_of(b).connected()) return false;
        if (n == 0 || left.ours || all[n - 1].at != stage::idle) return true;
        const auto& a = all[n - 1];
        if (a.as != b.as || a.immediate != b.immediate) return true;
        return a.object != b.object && (a.client == b.client || all.size() != clients);
    }
    void application(const move& m) {
        constexpr const char* words[] = {"joins", "quits", "releases", "downgrades"};
        note("contender", m.index, words[m.what - move::join]);
        auto& at = all[m.index].at;
        if (m.what == move::join) {
            at = stage::waiting;
            enter(m.index);
        } else if (m.what == move::quit) {
            --left.quits;
            at = stage::left;
            quit(m.index);
        } else if (m.what == move::release) {
            at = stage::left;
            release(m.index);
        } else {
            --left.downgrades;
            downgrade(m.index);
        }
    }
};

} // namespace paddock::test::explore
