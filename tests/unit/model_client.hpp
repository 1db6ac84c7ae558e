#pragma once

#include "rules/claims.hpp"
#include "rules/line.hpp"
#include "rules/names.hpp"
#include "unit/model_ensemble.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::test::model {

namespace act = rules::act;
using rules::contender_key;
using rules::node_id;

/// One attempt, as the application knows it.
struct seat {
    bool immediate = false;
    bool left = false;
    node_id id = 0;
    std::set<std::string> nodes{}; ///< of it, but those that came late
    std::string held{};            ///< the node of its hold
    std::string held_next{};       ///< and the one that it is being changed for
    rules::role as = rules::role::exclusive;
};

/// Everything that the clients of one history share.
struct world {
    ensemble zk;
    std::function<void(const std::string&)> note; ///< writes the story down, if one is wanted
    /// Checks a grant against everything else.
    std::function<void(const session&, const std::string& node, std::int64_t czxid)> granted;
};

class client;

/// One line of a client, with what the application wants from it.
struct station {
    station(client& c, const rules::naming& of);
    rules::naming names;
    rules::line line;
    std::map<contender_key, seat> seats;
    contender_key last = 0;
    bool paused = false, awaits_lease = false;
};

/// What the rooms around rules::line do: carries out its actions, sweeps, and searches tainted
/// directories.
class client {
public:
    client(world& w, int number) : world_(w), number_(number) {
        stations.push_back(std::make_unique<station>(*this, rules::naming("lock")));
        stations.push_back(std::make_unique<station>(*this, rules::naming("other")));
        stations.push_back(std::make_unique<station>(*this, rules::naming::of_shared_mutex()));
    }

    // The application.
    void join(station& s, rules::terms how) {
        if (how.immediate && !connected) return; // the library does not even enter
        const auto key = ++s.last;
        s.seats[key].immediate = how.immediate;
        s.seats[key].as = how.as;
        note("join", std::to_string(key));
        s.line.join(key, how);
        carry_out(s);
    }
    void quit(station& s, contender_key key) {
        note("quit", std::to_string(key));
        s.seats.at(key).left = true;
        s.line.quit(key);
        carry_out(s);
    }
    void release(station& s, contender_key key) {
        note("release", std::to_string(key));
        s.line.release(key);
        carry_out(s);
    }
    void downgrade(station& s, contender_key key) {
        note("downgrades", std::to_string(key));
        s.line.downgrade(key);
        carry_out(s);
    }
    void guard_own(station& s, contender_key key) {
        s.line.guard_own(key);
        carry_out(s);
    }

    // The network.
    void connect(int server, bool backwards) {
        note("connects to server", std::to_string(server));
        if (!own.alive) end_session();
        if (own.id == 0) {
            own = {};
            own.id = ++sessions_ * 16 + number_;
            ids.begin(own.id);
        }
        world_.zk.connect(own, server);
        std::vector<std::string> names(armed_.begin(), armed_.end());
        if (backwards) std::reverse(names.begin(), names.end());
        world_.zk.set_watches(own, names);
        connected = true;
        for (const auto& [name, id] : removals)
            send_remove(name, id);
        if (tainted) search();
        for (auto& s : stations) {
            s->line.connected();
            carry_out(*s);
        }
    }
    /// `lost_first`: whether the lost answers come before the news of the lost connection.
    void break_connection(bool lost_first) {
        note("loses its connection");
        world_.zk.disconnect(own);
        connected = false;
        auto lost = std::exchange(awaited_, {});
        if (lost_first) answer_all(lost, outcome::lost);
        for (auto& s : stations) {
            s->line.disconnected();
            carry_out(*s);
        }
        answer_all(lost, outcome::lost);
        answer_all(unsent_, outcome::not_sent);
        retry.clear();
    }
    void execute() {
        if (own.to_server.empty()) return;
        const auto name = world_.zk.execute(own);
        if (!name.empty()) was_created(name);
    }
    /// The next answer, or event.
    void hear() {
        auto r = std::move(own.to_client.front());
        own.to_client.pop_front();
        own.heard = std::max(own.heard, r.zxid);
        if (r.what == reply::answer) {
            own.seen = std::max(own.seen, r.zxid);
            note("is answered", r.result == outcome::done ? "" : std::to_string(int(r.result)));
            auto next = std::move(awaited_.front());
            awaited_.pop_front();
            next(r);
            return;
        }
        note(r.what == reply::deleted ? "hears of the end of" : "hears of a change of", r.name);
        armed_.erase(r.name);
        if (heard_.erase(r.name) == 0) return;
        for (auto& s : stations) {
            s->line.node_event(r.name, r.what == reply::deleted);
            carry_out(*s);
        }
    }
    void resume(station& s) {
        if (std::exchange(s.paused, false)) s.line.resume();
        if (std::exchange(s.awaits_lease, false)) {
            s.line.lease(true);
            s.line.lease_renewed();
        }
        carry_out(s);
    }
    void lapse() { // until somebody awaits the lease
        for (auto& s : stations)
            s->line.lease(false);
    }
    void retry_removals() {
        for (const auto& [name, id] : std::exchange(retry, {}))
            send_remove(name, id);
    }
    void search() {
        list(true, [](const reply&) {});
    }

    /// The living attempt that the node belongs to.
    seat* owner_of(const std::string& node) {
        const auto id = rules::own_id(node, ids);
        for (auto& s : stations)
            for (auto& [key, one] : s->seats)
                if (id && !one.left && one.id == *id && s->names.sequence(node)) return &one;
        return nullptr;
    }
    /// Whether an attempt has this node, and did not come by it late.
    bool in_use(const std::string& node) {
        const auto* const who = owner_of(node);
        return who && who->nodes.contains(node);
    }
    /// No two nodes for one attempt.
    void was_created(const std::string& name) {
        note("has", name);
        auto* const who = owner_of(name);
        if (!who) return;
        for (const auto& other : who->nodes)
            must(!world_.zk.exists(other) || removals.contains(other), "created twice: " + name);
        who->nodes.insert(name);
    }
    std::size_t watches() const { return heard_.size(); }
    bool quiet() const { return own.to_server.empty() && own.to_client.empty(); }

    session own;
    rules::claims ids;
    bool connected = false;
    bool tainted = false;
    std::map<std::string, node_id> removals;
    std::map<std::string, node_id> retry;
    std::vector<std::unique_ptr<station>> stations;

private:
    using answer = std::function<void(const reply&)>;

    void note(std::string_view what, const std::string& about = {}) {
        if (!world_.note) return;
        world_.note("client " + std::to_string(number_) + ' ' + std::string(what) + ' ' + about);
    }

    void submit(request what, answer done) {
        if (!connected) {
            unsent_.push_back(std::move(done));
            return;
        }
        constexpr const char* words[] = {"create", "list", "get",     "remove",
                                         "wait",   "make", "unwatch", "swap"};
        note("asks to", std::string(words[what.what]) + ' ' + what.name);
        own.to_server.push_back(std::move(what));
        awaited_.push_back(std::move(done));
    }
    static void answer_all(std::deque<answer>& waiting, outcome result) {
        for (auto& one : std::exchange(waiting, {}))
            one({.result = result});
    }

    void end_session() {
        note("learns that its session is over");
        removals.clear();
        retry.clear();
        tainted = false;
        armed_.clear();
        heard_.clear();
        own.id = 0;
        for (auto& s : stations) {
            s->paused = s->awaits_lease = false;
            s->line.expired();
            carry_out(*s);
        }
    }

    /// With a barrier that fails, the listing is worth nothing.
    void list(bool behind_barrier, answer done) {
        const auto fault = std::make_shared<outcome>(outcome::done);
        if (behind_barrier)
            submit({request::barrier, {}}, [fault](const reply& r) { *fault = r.result; });
        submit({request::list, {}}, [this, fault, done = std::move(done)](reply r) {
            if (*fault != outcome::done) r.result = *fault;
            sweep_orphans(r);
            done(r);
        });
    }

    void carry_out(station& s) {
        for (auto actions = s.line.take(); !actions.empty(); actions = s.line.take())
            for (const auto& one : actions)
                std::visit([&](const auto& a) { obey(s, a); }, one);
    }

    void obey(station& s, const act::create& a) {
        must(connected, "a create without a connection");
        s.seats.at(a.who).id = a.id;
        const auto prefix = s.names.prefix(ids, a.id, s.seats.at(a.who).as);
        must(prefixes_.insert(prefix).second, "an id in two creates: " + prefix);
        submit({request::create, prefix}, [this, &s, a](const reply& r) {
            s.line.created(a.who, a.id,
                           {.result = r.result, .code = 0, .name = r.name, .czxid = r.czxid});
            carry_out(s);
        });
    }
    void obey(station& s, const act::list& a) {
        list(a.settle, [this, &s](const reply& r) {
            s.line.listed(r.result, 0, r.children);
            carry_out(s);
        });
    }
    void obey(station& s, const act::make_parents&) {
        submit({request::make, {}}, [this, &s](const reply& r) {
            s.line.parents_made(r.result, 0);
            carry_out(s);
        });
    }
    void obey(station& s, const act::watch_blocker& a) {
        look(a.name, [this, &s, a](const reply& r) {
            s.line.blocker_watched(a.name, r.result);
            carry_out(s);
        });
    }
    void obey(station& s, const act::watch_own& a) {
        look(a.name, [this, &s, a](const reply& r) {
            s.line.own_watched(a.who, a.id, {.result = r.result, .czxid = r.czxid});
            carry_out(s);
        });
    }
    void look(const std::string& name, answer done) {
        const auto ticket = heard_.try_emplace(name, ++tickets_).first->second;
        submit({request::get, name}, [this, name, ticket, done = std::move(done)](const reply& r) {
            const auto it = heard_.find(name);
            if (r.result == outcome::done)
                armed_.insert(name);
            else if (it != heard_.end() && it->second == ticket)
                heard_.erase(it);
            done(r);
        });
    }
    void obey(station&, const act::forget& a) {
        if (heard_.erase(a.name) == 0 || !connected) return;
        submit({request::unwatch, a.name},
               [this, name = a.name](const reply&) { armed_.erase(name); });
    }
    void obey(station&, const act::sweep& a) { remove(a.name, a.id); }
    void obey(station& s, const act::downgrade& a) {
        s.seats.at(a.who).held_next = a.name;
        submit({request::swap, a.name, a.old_name}, [this, &s, a](const reply& r) {
            const auto it = s.seats.find(a.who);
            if (r.result == outcome::done && it != s.seats.end()) it->second.nodes.insert(a.name);
            s.line.downgraded(a.who, a.id, r.result);
            carry_out(s);
        });
    }
    void obey(station& s, const act::downgraded& a) {
        auto& who = s.seats.at(a.who);
        who.as = rules::role::shared;
        who.held = std::string(s.line.name_of(a.who));
        who.id = rules::own_id(who.held, ids).value();
        note("shares with", who.held);
    }
    void obey(station&, const act::ask_back&) {}
    void obey(station&, const act::taint&) {
        tainted = true;
        if (connected) search();
    }
    void obey(station& s, const act::pause&) { s.paused = true; }
    void obey(station& s, const act::await_lease&) { s.awaits_lease = true; }
    void obey(station&, const act::warn&) {}
    void obey(station& s, const act::grant& a) {
        auto& who = s.seats.at(a.who);
        note("is granted", a.name);
        must(connected, "granted without a connection");
        must(!who.left && who.held.empty(), "granted twice, or too late: " + a.name);
        who.held = a.name;
        world_.granted(own, a.name, a.czxid);
    }
    void obey(station& s, const act::give_up& a) { must(s.seats.at(a.who).immediate, "gave up"); }
    void obey(station& s, const act::fail& a) {
        must(a.reason == act::why::session_expired || s.seats.at(a.who).immediate, "failed");
    }
    void obey(station& s, const act::lose& a) {
        const auto& who = s.seats.at(a.who);
        note("loses", who.held);
        must(!who.held.empty(), "lost what it never had");
        must(!world_.zk.exists(who.held), "lost what it still has: " + who.held);
        must(!world_.zk.exists(who.held_next), "lost what it still has: " + who.held_next);
    }
    void obey(station& s, const act::out& a) { s.seats.erase(a.who); }

    void remove(const std::string& name, node_id id) {
        if (removals.emplace(name, id).second && connected) send_remove(name, id);
    }
    void send_remove(const std::string& name, node_id id) {
        submit({request::remove, name}, [this, name, id](const reply& r) {
            if (r.result == outcome::later) retry.emplace(name, id);
            if (r.result != outcome::done && r.result != outcome::missing) return;
            removals.erase(name);
            ids.release(id);
        });
    }
    void sweep_orphans(const reply& r) {
        for (const auto& orphan : rules::orphans(r.children, ids)) {
            note("sweeps", orphan);
            must(!in_use(orphan), "sweeps what somebody uses: " + orphan);
            remove(orphan, rules::own_id(orphan, ids).value());
        }
    }

    world& world_;
    int number_;
    std::int64_t sessions_ = 0;
    std::deque<answer> awaited_;
    std::deque<answer> unsent_; ///< what was asked of a connection that was lost already
    int tickets_ = 0;
    std::map<std::string, int> heard_; ///< watches that somebody waits for
    std::set<std::string> armed_;      ///< that the C client knows of
    std::set<std::string> prefixes_;
};

inline station::station(client& c, const rules::naming& of) : names(of), line(names, c.ids) {}

} // namespace paddock::test::model
