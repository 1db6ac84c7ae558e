#pragma once

#include "unit/model_play.hpp"
#include "unit/model_simple_client.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::model {

/// One random history of a simple lock. Everything is decided by the seed.
class simple_history : chances {
public:
    explicit simple_history(std::uint64_t seed, std::function<void(const std::string&)> note = {})
        : chances(seed) {
        world_.note = std::move(note);
        world_.granted = [this](const session& who, const std::string& marker, std::int64_t czxid) {
            check_grant(who, marker, czxid);
        };
        for (int n = 1, clients = 1 + number(3); n <= clients; ++n) {
            clients_.push_back(std::make_unique<simple_client>(world_, n, 1 + number(3)));
            for (int objects = 1 + number(2); objects > 0; --objects)
                clients_.back()->add({.fail_on_expiry = chance(4), .fail_over_budget = chance(4)});
        }
        if (chance(2)) world_.zk.make();
        // Each history has its own mixture of troubles.
        for (auto& one : troubles_)
            one = chance(2);
    }

    void run() {
        for (int n = 20 + number(60); n > 0; --n)
            step();
        calm_down();
        check_end();
    }

private:
    enum trouble {
        breaks,
        expiries,
        strangers,
        kicks,
        careless_kicks,
        scribbles,
        reaping,
        throttling,
        lateness,
        lag,
        narrowness,
        lapses,
        all
    };

    bool happens(trouble what, int one_in) { return troubles_[what] && chance(one_in); }
    void note(const std::string& what) {
        if (world_.note) world_.note(what);
    }
    bool taken() const { return world_.zk.exists(the_lock); }

    void step() {
        auto& c = *any_of(clients_);
        const int what = number(100);
        if (what < 60)
            progress(world_.zk, c, troubles_[throttling], troubles_[lag]);
        else if (what < 85)
            application(c, *any_of(c.all));
        else
            misfortune(c);
    }

    void application(simple_client& c, simple_object& o) {
        const int what = number(10);
        if (what < 5) {
            if (o.callers.size() < 4) c.enter(o, chance(3));
        } else if (what < 7) {
            if (!o.callers.empty()) c.quit(o, any_of(o.callers).first);
        } else if (o.held != 0) {
            if (what < 9)
                c.release(o);
            else
                c.verify(o);
        }
    }

    void misfortune(simple_client& c) {
        if (c.connected && happens(breaks, 2)) break_connection(c);
        if (c.own.alive && c.own.id != 0 && happens(expiries, 8)) {
            note("a session ends");
            if (c.connected) break_connection(c);
            world_.zk.close(c.own);
            std::erase_if(late_, [&](const auto& one) { return one.first == c.own.id; });
        }
        if (happens(strangers, 3)) stranger(c);
        if (taken() && happens(kicks, 4)) kick();
        if (taken() && happens(scribbles, 3)) world_.zk.set(the_lock);
        if (happens(reaping, 6)) world_.zk.reap();
        if (happens(lapses, 4)) c.lapse();
        if (chance(2)) come_late();
        if (troubles_[narrowness]) c.can_watch = chance(2);
        c.patience();
    }

    /// Takes the lock without a marker, perhaps in a session of ours, or gives it back.
    void stranger(const simple_client& c) {
        if (stranger_ != 0) {
            stranger_leaves();
            return;
        }
        if (taken() || !world_.zk.leader().directory) return;
        const bool in_ours = c.own.alive && c.own.id != 0 && chance(3);
        world_.zk.create_as(in_ours ? c.own.id : 100, the_lock);
        stranger_ = world_.zk.czxid(the_lock);
        note("a stranger takes the lock");
    }
    bool stranger_leaves() {
        const auto its = std::exchange(stranger_, 0);
        if (its == 0 || !taken() || world_.zk.czxid(the_lock) != its) return false;
        note("the stranger gives it back");
        world_.zk.remove(the_lock);
        return true;
    }

    /// An administrator deletes the lock's node and its marker; the careless one only one of them.
    void kick() {
        const auto marker = world_.marker();
        const bool careless = !marker.empty() && happens(careless_kicks, 2);
        note(careless ? "a careless administrator deletes" : "an administrator deletes");
        if (careless && chance(2)) {
            left_.insert(world_.zk.czxid(the_lock));
            return world_.zk.remove(marker);
        }
        world_.zk.remove(the_lock);
        if (careless)
            world_.bereft.insert(marker);
        else if (!marker.empty())
            world_.zk.remove(marker);
    }

    /// Of the requests under way some are executed, in their order; some of the writes may be
    /// executed much later.
    void break_connection(simple_client& c) {
        while (!c.own.to_server.empty() && !chance(3))
            c.execute();
        for (const auto& r : c.own.to_server)
            if ((r.what == request::create_both || r.what == request::remove_both) &&
                happens(lateness, 3))
                late_.emplace_back(c.own.id, r);
        c.break_connection(chance(4));
        must(!c.somebody_immediate(), "an immediate one waits for a connection");
    }
    void come_late() {
        if (late_.empty()) return;
        const auto [owner, r] = late_.back();
        late_.pop_back();
        note("late comes " + r.name);
        world_.check_removal(r);
        if (r.what == request::create_both)
            world_.zk.create_both(owner, r.name, r.other);
        else
            world_.zk.remove_both(r.name, r.other);
    }

    /// Nothing bad happens any more: whatever is asked is answered, and who holds lets go.
    void calm_down() {
        note("calm");
        while (!late_.empty())
            come_late();
        for (auto& c : clients_) {
            c->can_watch = true;
            if (!c->connected) c->connect(0, false);
        }
        for (int n = 0; n < 2; ++n) { // the last search, a minute later
            do {
                while (settle()) {
                }
                check_holds();
            } while (somebody_lets_go());
            for (auto& c : clients_)
                if (c->tainted) c->search();
        }
        while (settle()) {
        }
    }
    bool settle() {
        bool any = catch_up(world_.zk, clients_);
        for (auto& c : clients_)
            any = c->patience() || any;
        return any;
    }
    bool somebody_lets_go() {
        if (stranger_leaves()) return true;
        for (auto& c : clients_)
            for (auto& o : c->all)
                if (o->held != 0) {
                    c->release(*o);
                    return true;
                }
        // Who deletes a marker by hand has to delete the lock's node as well.
        if (!taken() || left_.erase(world_.zk.czxid(the_lock)) == 0) return false;
        world_.zk.remove(the_lock);
        return true;
    }

    void check_grant(const session& who, const std::string& marker, std::int64_t czxid) {
        must(granted_.insert(czxid).second, "two holders of one node");
        const auto& zk = world_.zk;
        if (!taken() || zk.czxid(the_lock) != czxid)
            return must(zk.end_of(the_lock) > who.heard, "granted although it is known to be gone");
        if (zk.exists(marker))
            must(zk.czxid(marker) + 1 == czxid, "granted with another's node");
        else
            must(zk.end_of(marker) != 0, "granted without a marker");
    }

    /// When all is quiet: who still believes that he holds the lock does.
    void check_holds() const {
        for (const auto& c : clients_) {
            must(c->own.watches.size() <= 1 && c->watches() <= 1, "more than one watch");
            for (const auto& o : c->all)
                must(o->held == 0 || o->lost ||
                         (taken() && world_.zk.czxid(the_lock) == o->held_zxid),
                     "a hold that is gone is not lost");
        }
    }

    void check_end() const {
        for (const auto& c : clients_) {
            for (const auto& o : c->all)
                must(o->callers.empty(), "nobody moves, but somebody waits");
            must(c->ids.count() == 0, "an id is claimed for ever");
            must(c->used() == 0, "the budget is not given back");
            must(c->watches() == 0 && c->own.watches.empty(), "a watch is left behind");
        }
        must(world_.zk.leader().nodes.empty(), "a node is left behind");
    }

    simple_world world_;
    std::vector<std::unique_ptr<simple_client>> clients_;
    std::array<bool, all> troubles_{};
    std::vector<std::pair<std::int64_t, request>> late_;
    std::int64_t stranger_ = 0;   ///< the czxid of its node
    std::set<std::int64_t> left_; ///< lock nodes that have lost their markers
    std::set<std::int64_t> granted_;
};

} // namespace paddock::test::model
