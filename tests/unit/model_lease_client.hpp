#pragma once

#include "rules/claims.hpp"
#include "rules/leases.hpp"
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

// Clients that acquire permits of one semaphore, for random histories of rules::leases.
namespace paddock::test::model {

using rules::node_id;
namespace lease_act = rules::lease_act;

/// One acquisition, as the application knows it.
struct acquirer {
    acquirer(rules::claims& ids, rules::lease_terms terms) : how(terms), rules(ids, terms) {}
    rules::lease_terms how;
    rules::leases rules;
    bool left = false; ///< has given up, in whatever way
    bool paused = false;
    bool lost = false;
    std::vector<std::string> held{};
    std::set<node_id> wanted{};         ///< ids of its creates, of this stay in the line
    std::set<std::string> nodes{};      ///< of them, but those that came late
    std::int64_t first = 0, latest = 0; ///< czxids of its leases
};

/// The line of those who acquire: a plain model of what rules::line does, which has tests of its
/// own. A place goes with the session it was taken in.
struct queue_place {
    std::int64_t session;
    std::uint64_t key;
    bool told = false;    ///< that it is let in
    bool leaving = false; ///< its delete waits for a connection
};

struct lease_world {
    ensemble zk;
    std::deque<queue_place> line;
    std::optional<std::int32_t> permits; ///< nothing: the counter says it
    std::function<void(const std::string&)> note;
    std::function<void(const session&, acquirer&)> granted;
};

/// What the rooms around rules::leases do.
class lease_client {
public:
    lease_client(lease_world& w, int number) : world_(w), number_(number) {}

    // The application.
    void acquire(rules::lease_terms how) {
        how.permits = world_.permits;
        if (how.immediate && !connected) return; // the library does not even begin
        const auto key = ++last_;
        note("acquires " + std::to_string(how.count) + " as", key);
        auto& a = all.try_emplace(key, ids, how).first->second;
        if (connected) a.rules.connected();
        tell(key, [](auto& r) { r.begin(); });
    }
    void quit(std::uint64_t key) {
        note("quits", key);
        all.at(key).left = true;
        tell(key, [](auto& r) { r.quit(); });
    }
    void release(std::uint64_t key) {
        note("releases", key);
        auto& a = all.at(key);
        a.left = true;
        a.held.clear();
        tell(key, [](auto& r) { r.release(); });
    }
    void guard_own(std::uint64_t key) {
        tell(key, [](auto& r) { r.guard_own(); });
    }

    // The line.
    /// Whether somebody has moved.
    bool enter_line() {
        if (!connected || to_enter_.empty()) return false;
        const auto key = to_enter_.front();
        to_enter_.pop_front();
        auto& a = all.at(key);
        if (a.how.immediate && !world_.line.empty()) {
            a.left = true;
            tell(key, [](auto& r) { r.barred(); });
        } else {
            world_.line.push_back({own.id, key});
        }
        return true;
    }
    void let_in(std::uint64_t key) {
        note("is let in:", key);
        in_line_.erase(key);
        tell(key, [](auto& r) { r.placed(); });
    }
    /// Whether somebody learns that his place is gone.
    bool hear_of_places() {
        if (!connected || displaced_.empty()) return false;
        const auto key = *displaced_.begin();
        displaced_.erase(displaced_.begin());
        note("has lost its place:", key);
        tell(key, [](auto& r) { r.displaced(); });
        return true;
    }
    void place_deleted(std::uint64_t key) { displaced_.insert(key); }

    // The network.
    void connect(int server, bool backwards) {
        if (!own.alive) end_session();
        if (own.id == 0) {
            own = {};
            own.id = ++sessions_ * 16 + number_;
            ids.begin(own.id);
        }
        note("connects to server", static_cast<std::uint64_t>(server));
        world_.zk.connect(own, server);
        std::vector<std::string> names(armed_.begin(), armed_.end());
        if (backwards) std::reverse(names.begin(), names.end());
        world_.zk.set_watches(own, names);
        connected = true;
        std::erase_if(world_.line,
                      [this](const queue_place& p) { return p.session == own.id && p.leaving; });
        for (const auto& [name, id] : removals)
            send_remove(name, id);
        if (tainted) search();
        tell_all([](auto& r) { r.connected(); });
    }
    /// `lost_first`: whether the lost answers come before the news of the lost connection.
    void break_connection(bool lost_first) {
        note("loses its connection", 0);
        world_.zk.disconnect(own);
        connected = false;
        const auto lost = std::exchange(awaited_, {});
        const auto answer_all = [](const std::deque<answer>& these, outcome result) {
            for (const auto& one : these)
                one({.result = result});
        };
        if (lost_first) answer_all(lost, outcome::lost);
        tell_all([](auto& r) { r.disconnected(); });
        if (!lost_first) answer_all(lost, outcome::lost);
        answer_all(std::exchange(unsent_, {}), outcome::not_sent);
        retry.clear();
    }
    void execute() {
        const auto name = world_.zk.execute(own);
        const auto id = name.empty() ? std::nullopt : rules::own_id(name, ids);
        if (const auto it = creating_.find(id.value_or(0)); id && it != creating_.end()) {
            note("has " + name + " for", it->second);
            was_created(name, *id, it->second);
        }
    }
    /// No two nodes for one lease.
    void was_created(const std::string& name, node_id id, std::uint64_t key) {
        const auto it = all.find(key);
        if (it == all.end() || !it->second.wanted.contains(id)) return;
        auto& a = it->second;
        a.latest = world_.zk.czxid(name);
        if (a.first == 0) a.first = a.latest;
        a.nodes.insert(name);
        const auto living = std::count_if(a.nodes.begin(), a.nodes.end(), [&](const auto& one) {
            return world_.zk.exists(one) && !removals.contains(one);
        });
        must(living <= static_cast<std::ptrdiff_t>(a.how.count), "one too many: " + name);
    }
    /// The next answer, or event.
    void hear() {
        const auto r = std::move(own.to_client.front());
        own.to_client.pop_front();
        own.heard = std::max(own.heard, r.zxid);
        if (r.what == reply::answer) {
            own.seen = std::max(own.seen, r.zxid);
            const auto next = std::move(awaited_.front());
            awaited_.pop_front();
            note("is answered", static_cast<std::uint64_t>(r.result));
            return next(r);
        }
        note("hears of " + r.name, 0);
        armed_.erase(r.name);
        for (const auto& [key, ticket] : std::exchange(heard_[r.name], {}))
            tell(key, [&](auto& rules) {
                if (r.name == the_directory)
                    rules.directory_changed();
                else if (r.name == the_counter)
                    rules.counter_changed();
                else
                    rules.own_changed(*rules::own_id(r.name, ids), r.what == reply::deleted);
            });
        tidy(r.name);
    }
    /// Whether somebody had to be patient.
    bool patience() {
        bool any = connected && !retry.empty();
        if (any)
            for (const auto& [name, id] : std::exchange(retry, {}))
                send_remove(name, id);
        for (const auto key : keys()) {
            const auto it = all.find(key);
            if (it == all.end() || !std::exchange(it->second.paused, false)) continue;
            any = true;
            tell(key, [](auto& r) { r.resume(); });
        }
        return any;
    }
    void search() {
        list(true, false, [](const reply&) {});
    }

    std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> out;
        for (const auto& [key, a] : all)
            out.push_back(key);
        return out;
    }
    std::size_t watches() const { return heard_.size(); }
    bool quiet() const { return own.to_server.empty() && own.to_client.empty(); }

    session own;
    rules::claims ids;
    bool connected = false;
    bool tainted = false;
    std::map<std::string, node_id> removals;
    std::map<std::string, node_id> retry;
    std::map<std::uint64_t, acquirer> all;

private:
    using answer = std::function<void(const reply&)>;

    void note(const std::string& what, std::uint64_t about) {
        if (world_.note)
            world_.note("client " + std::to_string(number_) + ' ' + what + ' ' +
                        std::to_string(about));
    }

    template <typename Say>
    void tell(std::uint64_t key, Say say) {
        const auto it = all.find(key);
        if (it == all.end()) return;
        say(it->second.rules);
        for (auto actions = it->second.rules.take(); !actions.empty();) {
            bool out = false;
            for (const auto& one : actions) {
                out = std::holds_alternative<lease_act::out>(one);
                std::visit([&](const auto& a) { obey(key, it->second, a); }, one);
            }
            actions = it->second.rules.take();
            if (!out) continue;
            must(actions.empty(), "it wants something after its end");
            all.erase(it);
            return;
        }
    }
    template <typename Say>
    void tell_all(Say say) {
        for (const auto key : keys())
            tell(key, say);
    }

    void submit(request what, answer done) {
        if (!connected) return unsent_.push_back(std::move(done));
        constexpr const char* words[] = {
            "create", "list", "get", "remove", "hear a barrier", "make parents of", "unwatch"};
        note(std::string("asks to ") + words[what.what] + ' ' + what.name, 0);
        own.to_server.push_back(std::move(what));
        awaited_.push_back(std::move(done));
    }

    /// What the line does with those who stand in it, it does by itself.
    void end_session() {
        note("learns that its session is over", 0);
        removals.clear();
        retry.clear();
        tainted = false;
        armed_.clear();
        heard_.clear();
        displaced_.clear();
        creating_.clear();
        own.id = 0;
        const auto queued = std::exchange(in_line_, {});
        to_enter_.clear();
        for (const auto key : keys()) {
            auto& a = all.at(key);
            a.paused = false;
            a.first = a.latest = 0;
            if (queued.contains(key) && a.how.fail_on_expiry && !a.left) {
                a.left = true;
                tell(key, [](auto& r) { r.expired(); });
                tell(key, [](auto& r) { r.barred(); });
                continue;
            }
            if (queued.contains(key)) enqueue(key);
            tell(key, [](auto& r) { r.expired(); });
        }
    }
    void enqueue(std::uint64_t key) {
        all.at(key).wanted.clear();
        all.at(key).nodes.clear();
        if (std::find(to_enter_.begin(), to_enter_.end(), key) == to_enter_.end())
            to_enter_.push_back(key);
        in_line_.insert(key);
    }

    /// With a barrier that fails, the listing is worth nothing.
    void list(bool settle, bool watch, answer done) {
        const auto fault = std::make_shared<outcome>(outcome::done);
        if (settle) submit({request::barrier, {}}, [fault](const reply& r) { *fault = r.result; });
        submit({.what = request::list, .name = {}, .watch = watch}, [this, fault, done](reply r) {
            if (*fault != outcome::done) r.result = *fault;
            for (const auto& orphan : rules::orphans(r.children, ids)) {
                for (const auto& [key, a] : all)
                    must(std::count(a.held.begin(), a.held.end(), orphan) == 0,
                         "sweeps what somebody holds: " + orphan);
                remove(orphan, rules::own_id(orphan, ids).value());
            }
            done(r);
        });
    }

    void obey(std::uint64_t key, acquirer&, const lease_act::enter&) { enqueue(key); }
    void obey(std::uint64_t key, acquirer&, const lease_act::leave&) {
        std::erase(to_enter_, key);
        in_line_.erase(key);
        displaced_.erase(key);
        const auto it = std::find_if(world_.line.begin(), world_.line.end(), [&](const auto& p) {
            return p.session == own.id && p.key == key && !p.leaving;
        });
        if (it == world_.line.end()) return;
        if (connected)
            world_.line.erase(it);
        else
            it->leaving = true;
    }
    void obey(std::uint64_t key, acquirer& a, const lease_act::create& what) {
        must(connected, "a create without a connection");
        must(a.held.empty() && !a.left, "a create that nobody wants");
        const auto prefix = rules::naming::of_leases().prefix(ids, what.id);
        must(prefixes_.insert(prefix).second, "an id in two creates");
        creating_[what.id] = key;
        a.wanted.insert(what.id);
        submit({request::create, prefix}, [this, key, id = what.id](const reply& r) {
            tell(key, [&](auto& rules) {
                rules.created(id, {.result = r.result, .code = 0, .name = r.name});
            });
        });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::list& what) {
        look(
            key, the_directory, [&](answer done) { list(what.settle, true, std::move(done)); },
            [number = what.number](rules::leases& rules, const reply& r) {
                rules.listed(number, {r.result}, r.children);
            });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::read_permits& what) {
        look(
            key, the_counter,
            [&](answer done) {
                submit({request::get, the_counter}, done);
            },
            [number = what.number](rules::leases& rules, const reply& r) {
                rules.permits_read(number, {r.result}, r.value);
            });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::watch_own& what) {
        look(
            key, what.name,
            [&](answer done) {
                submit({request::get, what.name}, done);
            },
            [id = what.id](rules::leases& rules, const reply& r) {
                rules.own_watched(id, {r.result});
            });
    }
    /// Reads something, and hears of its next change.
    template <typename Ask, typename Tell>
    void look(std::uint64_t key, const std::string& name, Ask ask, Tell say) {
        const auto ticket = heard_[name].try_emplace(key, ++tickets_).first->second;
        ask([this, key, name, ticket, say](const reply& r) {
            auto& waiting = heard_[name];
            const auto it = waiting.find(key);
            if (r.result == outcome::done)
                armed_.insert(name);
            else if (it != waiting.end() && it->second == ticket)
                waiting.erase(it);
            tidy(name);
            tell(key, [&](auto& rules) { say(rules, r); });
        });
    }
    void tidy(const std::string& name) {
        if (const auto it = heard_.find(name); it != heard_.end() && it->second.empty())
            heard_.erase(it);
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::forget&) {
        for (auto it = heard_.begin(); it != heard_.end();) {
            const auto here = it++;
            if (here->second.erase(key) == 0 || !here->second.empty()) continue;
            const auto name = here->first;
            heard_.erase(here);
            if (!connected) continue;
            submit({request::unwatch, name}, [this, name](const reply&) { armed_.erase(name); });
        }
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::make_parents&) {
        submit({request::make, {}}, [this, key](const reply& r) {
            tell(key, [&](auto& rules) { rules.parents_made(r.result, 0); });
        });
    }
    void obey(std::uint64_t, acquirer&, const lease_act::sweep& what) {
        remove(what.name, what.id);
    }
    void obey(std::uint64_t, acquirer&, const lease_act::taint&) {
        tainted = true;
        if (connected) search();
    }
    void obey(std::uint64_t, acquirer& a, const lease_act::pause&) { a.paused = true; }
    void obey(std::uint64_t key, acquirer& a, const lease_act::grant& what) {
        note("is granted", key);
        must(connected, "granted without a connection");
        must(!a.left && a.held.empty() && !a.lost, "granted twice, or too late");
        const std::set<std::string> different(what.names.begin(), what.names.end());
        must(different.size() == a.how.count, "granted a wrong number");
        for (const auto& name : different)
            must(world_.zk.exists(name) || world_.zk.end_of(name) != 0, "granted what never was");
        a.held = what.names;
        world_.granted(own, a);
    }
    void obey(std::uint64_t, acquirer& a, const lease_act::give_up&) {
        must(a.how.immediate, "gave up");
        a.left = true;
    }
    void obey(std::uint64_t, acquirer& a, const lease_act::fail& what) {
        const bool expired = what.reason == lease_act::why::session_expired && a.how.fail_on_expiry;
        must(expired || a.how.immediate, "failed");
        a.left = true;
    }
    void obey(std::uint64_t key, acquirer& a, const lease_act::lose& what) {
        note("loses", key);
        must(!a.held.empty(), "lost what it never had");
        must(what.session_over || std::any_of(a.held.begin(), a.held.end(),
                                              [&](const auto& n) { return !world_.zk.exists(n); }),
             "lost what it still has");
        a.lost = true;
    }
    void obey(std::uint64_t, acquirer& a, const lease_act::out&) {
        must(a.left || a.lost, "out, and nobody told the application");
    }

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

    lease_world& world_;
    int number_;
    std::int64_t sessions_ = 0;
    std::uint64_t last_ = 0;
    std::deque<answer> awaited_;
    std::deque<answer> unsent_; ///< what was asked of a connection that was lost already
    std::deque<std::uint64_t> to_enter_;
    std::set<std::uint64_t> in_line_; ///< who stands in the line, or is about to
    std::set<std::uint64_t> displaced_;
    std::map<node_id, std::uint64_t> creating_;
    int tickets_ = 0;
    std::map<std::string, std::map<std::uint64_t, int>> heard_; ///< who waits for an event
    std::set<std::string> armed_;                               ///< that the C client knows of
    std::set<std::string> prefixes_;
};

} // namespace paddock::test::model
