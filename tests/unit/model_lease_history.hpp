#pragma once

#include "unit/model_lease_client.hpp"
#include "unit/model_play.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test::model {

/// Another process with Curator's recipe, which takes one permit. It is always up to date, which
/// makes it as dangerous as can be.
struct foreign_acquirer {
    std::int64_t id;
    enum { idle, queued, waiting, holding } at = idle;
    std::string lease{};
};

/// One random history of a semaphore. Everything is decided by the seed.
class lease_history : chances {
public:
    explicit lease_history(std::uint64_t seed, std::function<void(const std::string&)> note = {})
        : chances(seed) {
        world_.note = std::move(note);
        world_.granted = [this](const session& who, acquirer& a) { check_grant(who, a); };
        const int clients = 1 + number(3);
        for (int n = 1; n <= clients; ++n)
            clients_.push_back(std::make_unique<lease_client>(world_, n));
        const int foreigners = number(3);
        for (int n = 0; n < foreigners; ++n)
            foreigners_.push_back({100 + n});
        const auto permits = 1 + number(most);
        if (chance(2))
            world_.permits = permits;
        else
            world_.zk.count(permits);
        if (chance(2)) world_.zk.make();
        // Each history has its own mixture of troubles.
        for (auto& one : troubles_)
            one = chance(2);
    }

    void run() {
        const int steps = 20 + number(80);
        for (int n = 0; n < steps; ++n)
            step();
        calm_down();
        check_end();
    }

private:
    enum trouble {
        breaks,
        expiries,
        kicks,
        changes,
        places,
        reaping,
        lapses,
        throttling,
        lateness,
        lag,
        all
    };
    static constexpr int most = 3; ///< permits that one acquisition wants

    bool happens(trouble what, int one_in) { return troubles_[what] && chance(one_in); }
    void note(const std::string& what) {
        if (world_.note) world_.note(what);
    }

    void step() {
        auto& c = *any_of(clients_);
        const int what = number(100);
        if (what < 60)
            progress(c);
        else if (what < 80)
            application(c);
        else if (what < 90)
            foreign();
        else
            misfortune(c);
    }

    void progress(lease_client& c) {
        chances::progress(world_.zk, c, troubles_[throttling], troubles_[lag]);
        if (!c.connected) return;
        if (chance(2)) c.enter_line();
        if (chance(2)) let_in();
        if (chance(3)) c.hear_of_places();
    }

    /// The line lets in who is first. Whether somebody has moved.
    bool let_in() {
        if (world_.line.empty() || world_.line.front().told) return false;
        auto& first = world_.line.front();
        for (auto& f : foreigners_)
            if (f.id == first.session) {
                first.told = true;
                if (!world_.zk.leader().directory) world_.zk.make();
                f.lease = world_.zk.create(f.id, foreign_prefix());
                f.at = foreign_acquirer::waiting;
                note("foreigner has " + f.lease);
                return true;
            }
        for (auto& c : clients_)
            if (c->own.id == first.session && c->connected && !first.leaving) {
                first.told = true;
                c->let_in(first.key);
                return true;
            }
        return false;
    }
    std::string foreign_prefix() {
        std::array<char, 40> id{};
        std::snprintf(id.data(), id.size(), "c0ffee00-0000-4000-8000-%012llx",
                      static_cast<unsigned long long>(bits() & 0xffff'ffff'ffff));
        return std::string("_c_") + id.data() + "-lease-";
    }

    void application(lease_client& c) {
        const int what = number(10);
        if (what < 4) {
            if (c.all.size() < 5)
                c.acquire(
                    {.count = 1 + static_cast<std::size_t>(number(world_.permits.value_or(most))),
                     .immediate = chance(5),
                     .fail_on_expiry = chance(5)});
            return;
        }
        if (what == 4 && !world_.permits && troubles_[changes]) return count(number(most + 2));
        if (c.all.empty()) return;
        const auto key = any_of(c.all).first;
        const auto& a = c.all.at(key);
        if (what == 5 && !a.left && a.held.empty()) return c.quit(key);
        if (a.held.empty() || a.left) return;
        if (what < 9) return c.release(key);
        c.guard_own(key);
    }
    void count(std::int32_t permits) {
        note("there are " + std::to_string(permits) + " permits");
        world_.zk.count(permits);
    }

    void foreign() {
        if (foreigners_.empty()) return;
        auto& f = any_of(foreigners_);
        if (f.at == foreign_acquirer::idle) {
            world_.line.push_back({f.id, 0});
            f.at = foreign_acquirer::queued;
        } else if (f.at == foreign_acquirer::holding ||
                   (f.at != foreign_acquirer::queued && chance(6))) {
            let_go(f);
        }
        look(f);
    }
    void let_go(foreign_acquirer& f) {
        note("foreigner lets go of " + f.lease);
        if (world_.zk.exists(f.lease)) world_.zk.remove(f.lease);
        leave_line(f);
        f = {f.id};
    }
    void leave_line(const foreign_acquirer& f) {
        std::erase_if(world_.line, [&](const queue_place& p) { return p.session == f.id; });
    }
    /// Whether something has changed for it.
    bool look(foreign_acquirer& f) {
        if (f.at != foreign_acquirer::waiting) return false;
        if (!world_.zk.exists(f.lease)) { // gone: it begins again
            leave_line(f);
            f = {f.id};
            return true;
        }
        const auto permits = world_.permits.value_or(world_.zk.leader().counter);
        if (static_cast<int>(world_.zk.leader().nodes.size()) > permits) return false;
        note("foreigner holds " + f.lease);
        f.at = foreign_acquirer::holding;
        leave_line(f);
        check_permits();
        return true;
    }

    void misfortune(lease_client& c) {
        if (c.connected && happens(breaks, 2)) break_connection(c);
        if (c.own.alive && c.own.id != 0 && happens(expiries, 8)) {
            note("a session ends");
            if (c.connected) break_connection(c);
            world_.zk.close(c.own);
            std::erase_if(late_, [&](const auto& one) { return one.first == c.own.id; });
            std::erase_if(world_.line, [&](const queue_place& p) { return p.session == c.own.id; });
        }
        if (!world_.zk.leader().nodes.empty() && happens(kicks, 4)) {
            const auto node = any_of(world_.zk.leader().nodes).first;
            note("an administrator deletes " + node);
            world_.zk.remove(node);
        }
        if (!world_.line.empty() && happens(places, 4)) displace();
        if (happens(reaping, 6)) world_.zk.reap();
        if (happens(lapses, 4)) c.lapse();
        if (chance(2)) come_late();
        c.patience();
    }
    /// An administrator deletes the place of who is first.
    void displace() {
        const auto first = world_.line.front();
        for (auto& c : clients_)
            if (c->own.id == first.session && first.told && !first.leaving) {
                note("an administrator takes the place of " + std::to_string(first.key));
                world_.line.pop_front();
                c->place_deleted(first.key);
                return;
            }
    }

    /// Of the requests under way some are executed, in their order; some of the creates may be
    /// executed much later.
    void break_connection(lease_client& c) {
        while (!c.own.to_server.empty() && !chance(3))
            c.execute();
        for (const auto& r : c.own.to_server)
            if (r.what == request::create && happens(lateness, 3))
                late_.emplace_back(c.own.id, r.name);
        c.break_connection(chance(4));
    }
    void come_late() {
        if (late_.empty()) return;
        const auto [owner, prefix] = late_.back();
        late_.pop_back();
        if (!world_.zk.leader().directory) return;
        note("late comes " + world_.zk.create(owner, prefix));
    }

    /// Nothing bad happens any more: whatever is asked is answered, and who holds lets go.
    void calm_down() {
        note("calm");
        while (!late_.empty())
            come_late();
        if (!world_.permits) count(most);
        for (auto& c : clients_)
            if (!c->connected) c->connect(0, false);
        for (int n = 0; n < 2; ++n) { // the last search, a minute later
            while (settle() || somebody_lets_go()) {
            }
            for (auto& c : clients_)
                if (c->tainted) c->search();
        }
        while (settle()) {
        }
    }
    bool settle() {
        bool any = catch_up(world_.zk, clients_);
        for (auto& c : clients_) {
            for (const bool moved : {c->patience(), c->enter_line(), c->hear_of_places()})
                any = any || moved;
        }
        for (auto& f : foreigners_)
            any = look(f) || any;
        return let_in() || any;
    }
    bool somebody_lets_go() {
        for (auto& f : foreigners_)
            if (f.at == foreign_acquirer::holding) {
                let_go(f);
                return true;
            }
        for (auto& c : clients_)
            for (const auto& [key, a] : c->all)
                if (!a.held.empty() && !a.left) {
                    c->release(key);
                    return true;
                }
        return false;
    }

    void check_grant(const session& who, const acquirer& a) {
        for (const auto& lease : a.held)
            if (const auto end = world_.zk.end_of(lease))
                must(end > who.heard, "granted although it could be known to be gone: " + lease);
        check_permits();
    }

    /// All leases that are granted, and exist, are not more than the permits that whoever made his
    /// last may have read.
    void check_permits() {
        std::int32_t taken = 0;
        std::int64_t latest = 0, since = 0;
        for (const auto& c : clients_)
            for (const auto& [key, a] : c->all) {
                if (a.held.empty()) continue;
                for (const auto& lease : a.held)
                    taken += world_.zk.exists(lease) ? 1 : 0;
                if (a.latest <= latest) continue;
                latest = a.latest;
                since = a.first;
            }
        for (const auto& f : foreigners_) {
            if (f.at != foreign_acquirer::holding || !world_.zk.exists(f.lease)) continue;
            ++taken;
            if (world_.zk.czxid(f.lease) <= latest) continue;
            latest = since = world_.zk.czxid(f.lease);
        }
        const auto permits = world_.permits.value_or(world_.zk.greatest_count(since));
        must(taken <= permits, std::to_string(taken) + " leases are granted, and there are " +
                                   std::to_string(permits) + " permits");
    }

    void check_end() {
        for (const auto& c : clients_) {
            must(c->all.empty(), "nobody moves, but somebody waits");
            must(c->ids.count() == 0, "an id is claimed for ever");
            must(c->watches() == 0, "a watch is left behind");
        }
        for (const auto& f : foreigners_)
            must(f.at == foreign_acquirer::idle, "a foreigner waits in vain");
        must(world_.line.empty(), "somebody stands in the line");
        must(world_.zk.leader().nodes.empty(), "a node is left behind");
    }

    lease_world world_;
    std::vector<std::unique_ptr<lease_client>> clients_;
    std::vector<foreign_acquirer> foreigners_;
    std::array<bool, all> troubles_{};
    std::vector<std::pair<std::int64_t, std::string>> late_;
};

} // namespace paddock::test::model
