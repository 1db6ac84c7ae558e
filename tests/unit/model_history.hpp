#pragma once

#include "unit/model_client.hpp"
#include "unit/model_play.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::model {

/// Another process with Curator's recipes: the mutex, or the read-write lock with the downgrade of
/// Curator 5.5. It is always up to date, which makes it as dangerous as can be.
struct foreigner {
    std::int64_t id;
    bool reads_and_writes = false;
    std::string node{}; ///< empty: it does not want the lock
    bool holding = false;
    std::string leaving{}; ///< the writer's node, between the two steps of a downgrade
};

/// One random history: some clients and foreigners, and whatever may happen to them. Everything is
/// decided by the seed.
class history : chances {
public:
    explicit history(std::uint64_t seed, std::function<void(const std::string&)> note = {})
        : chances(seed) {
        world_.note = std::move(note);
        world_.granted = [this](const session& who, const std::string& node, std::int64_t czxid) {
            check_grant(who, node, czxid);
        };
        const int clients = 1 + number(3);
        for (int n = 1; n <= clients; ++n)
            clients_.push_back(std::make_unique<client>(world_, n));
        const int foreigners = number(3);
        for (int n = 0; n < foreigners; ++n)
            foreigners_.push_back({100 + n, chance(2)});
        if (chance(2)) world_.zk.make();
        // Each history has its own mixture of troubles.
        for (auto& one : troubles_)
            one = chance(2);
    }

    void run() {
        const int steps = 20 + number(60);
        for (int n = 0; n < steps; ++n)
            step();
        calm_down();
        check_end();
    }

private:
    enum trouble { breaks, expiries, kicks, changes, reaping, refusals, delays, lag, lapses, all };

    bool happens(trouble what, int one_in) { return troubles_[what] && chance(one_in); }
    void note(std::string_view what, const std::string& about = {}) {
        if (world_.note) world_.note(std::string(what) + ' ' + about);
    }

    void step() {
        auto& c = *any_of(clients_);
        const int what = number(100);
        if (what < 60) {
            progress(world_.zk, c, troubles_[refusals], troubles_[lag]);
        } else if (what < 85) {
            application(c);
        } else if (what < 93) {
            foreign();
        } else {
            misfortune(c);
        }
    }

    void application(client& c) {
        const bool shared_line = chance(2);
        auto& s = *c.stations[shared_line ? 2 : chance(5) ? 1 : 0];
        const int what = number(10);
        if (what < 4) {
            if (s.seats.size() < 4)
                c.join(s, {.as = shared_line && chance(2) ? rules::role::shared
                                                          : rules::role::exclusive,
                           .immediate = chance(5),
                           .fail_on_expiry = chance(5)});
            return;
        }
        if (s.seats.empty()) return;
        const auto it = std::next(s.seats.begin(), number(static_cast<int>(s.seats.size())));
        const auto& [key, one] = *it;
        if (what == 4 && !one.left && one.held.empty()) return c.quit(s, key);
        if (one.held.empty()) return;
        if (what < 7) return c.release(s, key);
        if (what < 9 && shared_line) return c.downgrade(s, key);
        c.guard_own(s, key);
    }

    void foreign() {
        if (foreigners_.empty()) return;
        auto& f =
            foreigners_[static_cast<std::size_t>(number(static_cast<int>(foreigners_.size())))];
        if (!f.leaving.empty()) {
            leave_writer(f);
        } else if (f.node.empty()) {
            f.node = join(f);
        } else if (f.holding && f.reads_and_writes && is_writer(f.node) && chance(2)) {
            downgrade(f);
        } else if (f.holding || chance(6)) {
            let_go_of(f);
        }
        look(f);
    }
    void let_go_of(foreigner& f) {
        leave_writer(f);
        note("foreigner lets go of", f.node);
        if (world_.zk.exists(f.node)) world_.zk.remove(f.node);
        f = {f.id, f.reads_and_writes};
    }
    void leave_writer(foreigner& f) {
        if (f.leaving.empty()) return;
        note("foreigner lets go of", f.leaving);
        if (world_.zk.exists(f.leaving)) world_.zk.remove(f.leaving);
        f.leaving.clear();
    }
    static bool is_writer(const std::string& node) {
        return node.find("__WRIT__") != std::string::npos;
    }
    /// A reader's node with the writer's own number; then the writer's goes.
    void downgrade(foreigner& f) {
        if (!world_.zk.exists(f.node)) return;
        f.leaving = f.node;
        f.node.replace(f.node.find("__WRIT__"), 8, "__READ__");
        f.node[10] = 'd'; // another id
        note("foreigner downgrades to", f.node);
        world_.zk.create_as(f.id, f.node);
    }
    std::string join(const foreigner& f) {
        if (!world_.zk.leader().directory) world_.zk.make();
        std::array<char, 40> id{};
        std::snprintf(id.data(), id.size(), "c0ffee00-0000-4000-8000-%012llx",
                      static_cast<unsigned long long>(bits() & 0xffff'ffff'ffff));
        const char* const kind = !f.reads_and_writes ? "lock-"
                                 : chance(2)         ? "__READ__"
                                                     : "__WRIT__";
        const auto name = world_.zk.create(f.id, std::string("_c_") + id.data() + '-' + kind);
        note("foreigner has", name);
        return name;
    }
    void look(foreigner& f) {
        if (f.node.empty() || f.holding) return;
        if (!world_.zk.exists(f.node)) {
            f.node.clear();
            return;
        }
        if (blocked(f.node)) return;
        note("foreigner holds", f.node);
        f.holding = true;
        check_alone(f.node);
    }

    void misfortune(client& c) {
        if (c.connected && happens(breaks, 2)) break_connection(c);
        if (c.own.alive && c.own.id != 0 && happens(expiries, 10)) {
            note("a session ends");
            if (c.connected) break_connection(c);
            world_.zk.close(c.own);
            std::erase_if(late_, [&](const auto& one) { return one.first == c.own.id; });
        }
        const auto& nodes = world_.zk.leader().nodes;
        if (!nodes.empty() && happens(kicks, 6)) {
            const auto node =
                std::next(nodes.begin(), number(static_cast<int>(nodes.size())))->first;
            note("an administrator deletes", node);
            world_.zk.remove(node);
        }
        if (!nodes.empty() && happens(changes, 3))
            world_.zk.set(std::next(nodes.begin(), number(static_cast<int>(nodes.size())))->first);
        if (happens(reaping, 6)) reap();
        if (happens(lapses, 4)) c.lapse();
        if (chance(2)) come_late();
        patience(c);
    }

    /// Deletes the directory, with everything in it if there is something.
    void reap() {
        note("the directory is deleted");
        const auto nodes = world_.zk.leader().nodes;
        if (!nodes.empty() && !troubles_[kicks]) return;
        for (const auto& [name, node] : nodes)
            world_.zk.remove(name);
        world_.zk.reap();
    }

    /// Of the requests under way some are executed, in their order; some of the creates may be
    /// executed much later.
    void break_connection(client& c) {
        while (!c.own.to_server.empty() && !chance(3))
            c.execute();
        for (const auto& r : c.own.to_server)
            if (r.what == request::create && happens(delays, 3))
                late_.emplace_back(c.own.id, r.name);
        c.break_connection(chance(4));
    }
    void come_late() {
        if (late_.empty()) return;
        const auto [owner, prefix] = late_.back();
        late_.pop_back();
        if (!world_.zk.leader().directory) return;
        const auto name = world_.zk.create(owner, prefix);
        note("late comes", name);
    }
    bool patience(client& c) {
        bool any = !c.retry.empty() && c.connected;
        if (any) c.retry_removals();
        for (auto& s : c.stations)
            if (s->paused || s->awaits_lease) {
                c.resume(*s);
                any = true;
            }
        return any;
    }

    /// Nothing bad happens any more: whatever is asked is answered, and who holds lets go.
    void calm_down() {
        note("calm");
        while (!late_.empty())
            come_late();
        for (auto& c : clients_)
            if (!c->connected) c->connect(0, false);
        for (int n = 0; n < 2; ++n) { // the last search, a minute later
            while (settle() || let_go()) {
            }
            for (auto& c : clients_)
                if (c->tainted) c->search();
        }
        while (settle()) {
        }
    }
    bool settle() {
        bool any = catch_up(world_.zk, clients_);
        for (auto& c : clients_)
            any = patience(*c) || any;
        for (auto& f : foreigners_)
            look(f);
        if (!any) check_watches();
        return any;
    }
    bool let_go() {
        for (auto& f : foreigners_)
            if (f.holding) {
                let_go_of(f);
                return true;
            }
        for (auto& c : clients_)
            for (auto& s : c->stations)
                for (const auto& [key, one] : s->seats)
                    if (!one.held.empty()) {
                        c->release(*s, key);
                        return true;
                    }
        return false;
    }

    /// Whether the two cannot have the lock at the same time.
    static bool conflict(const rules::naming& names, const std::string& a, const std::string& b) {
        const auto one = names.read(a), other = names.read(b);
        return one && other &&
               (one->as == rules::role::exclusive || other->as == rules::role::exclusive);
    }
    /// Whether a node before it stands in its way.
    bool blocked(const std::string& node) const {
        const auto names = line_of(node);
        for (const auto& other : in_order(names)) {
            if (other.name == node) return false;
            if (conflict(names, node, other.name)) return true;
        }
        return false;
    }
    std::vector<rules::place> in_order(const rules::naming& names) const {
        std::vector<rules::place> out;
        for (const auto& [name, node] : world_.zk.leader().nodes)
            if (const auto sequence = names.sequence(name)) out.push_back({*sequence, name});
        std::sort(out.begin(), out.end());
        return out;
    }
    rules::naming line_of(const std::string& node) const {
        for (const auto& s : clients_.front()->stations)
            if (s->names.sequence(node)) return s->names;
        throw violation("a node of no line: " + node);
    }

    void check_grant(const session& who, const std::string& node, std::int64_t czxid) {
        if (const auto end = world_.zk.end_of(node))
            return must(end > who.heard, "granted although it could be known to be gone: " + node);
        must(czxid == world_.zk.czxid(node), "a wrong czxid");
        const auto names = line_of(node);
        client* mine = nullptr;
        for (auto& c : clients_)
            if (c->own.id == who.id) mine = c.get();
        for (const auto& other : in_order(names)) {
            if (other.name == node) break;
            if (!conflict(names, node, other.name)) continue;
            const bool own = world_.zk.leader().nodes.at(other.name).owner == who.id;
            must(own && !mine->in_use(other.name), "granted before " + other.name);
        }
        check_alone(node);
        if (names.read(node)->as == rules::role::shared) return;
        auto& token = tokens_[names.marker()];
        must(czxid > token, "the token does not grow");
        token = czxid;
    }

    /// Nobody else holds the same lock with a node that exists.
    void check_alone(const std::string& node) {
        const auto names = line_of(node);
        const auto rival = [&](const std::string& other) {
            return !other.empty() && other != node && conflict(names, node, other) &&
                   world_.zk.exists(other);
        };
        for (const auto& f : foreigners_)
            must(!f.holding || !rival(f.node), "two holders: " + node + " and " + f.node);
        for (const auto& c : clients_)
            for (const auto& s : c->stations)
                for (const auto& [key, one] : s->seats)
                    must(!rival(one.held), "two holders: " + node + " and " + one.held);
    }

    /// When all is quiet: each attempt has at most two watches.
    void check_watches() const {
        for (const auto& c : clients_) {
            std::size_t attempts = 0;
            for (const auto& s : c->stations)
                attempts += s->seats.size();
            must(c->watches() <= 2 * attempts, "too many watches");
        }
    }

    void check_end() {
        for (const auto& c : clients_) {
            for (const auto& s : c->stations) {
                must(s->seats.empty(), "nobody moves, but somebody waits");
                must(s->line.idle(), "an empty line is not idle");
            }
            must(c->ids.count() == 0, "an id is claimed for ever");
            must(c->watches() == 0, "a watch is left behind");
        }
        for (const auto& f : foreigners_)
            must(f.node.empty(), "a foreigner waits in vain");
        must(world_.zk.leader().nodes.empty(), "a node is left behind");
    }

    world world_;
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<foreigner> foreigners_;
    std::array<bool, all> troubles_{};
    std::vector<std::pair<std::int64_t, std::string>> late_;
    std::map<std::string, std::int64_t> tokens_;
};

} // namespace paddock::test::model
