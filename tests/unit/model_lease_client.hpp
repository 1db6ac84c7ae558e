#pragma once

#include "rules/claims.hpp"
#include "rules/leases.hpp"
#include "rules/names.hpp"
#include "unit/model_ensemble.hpp"
#include "unit/model_link.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Clients that acquire permits of one semaphore, for random histories of rules::leases.
namespace paddock::test::model {

namespace lease_act = rules::lease_act;

/// One acquisition, as the application knows it.
struct acquirer {
    acquirer(rules::claims& ids, rules::lease_terms terms) : how(terms), rules(ids, terms) {}
    rules::lease_terms how;
    rules::leases rules;
    bool left = false; ///< has given up, in whatever way
    bool paused = false;
    bool awaits_session = false;
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
class lease_client final : public link {
public:
    lease_client(lease_world& w, int number) : link(w.zk, w.note, number), world_(w) {}

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

    /// The session's lease, until somebody awaits it.
    void lapse() {
        for (const auto key : keys())
            tell(key, [](auto& r) { r.session_fit(false); });
    }
    /// Whether somebody had to be patient.
    bool patience() {
        bool any = retry_removals();
        for (const auto key : keys()) {
            const auto it = all.find(key);
            if (it == all.end()) continue;
            const bool paused = std::exchange(it->second.paused, false);
            const bool awaits = std::exchange(it->second.awaits_session, false);
            any = any || paused || awaits;
            if (paused) tell(key, [](auto& r) { r.resume(); });
            if (!awaits) continue;
            tell(key, [](auto& r) {
                r.session_fit(true);
                r.session_renewed();
            });
        }
        return any;
    }
    std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> out;
        for (const auto& [key, a] : all)
            out.push_back(key);
        return out;
    }
    std::map<std::uint64_t, acquirer> all;

private:
    using link::note;
    void note(const std::string& what, std::uint64_t about) {
        note(what + ' ' + std::to_string(about));
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

    void on_connected() override {
        std::erase_if(world_.line,
                      [this](const queue_place& p) { return p.session == own.id && p.leaving; });
        tell_all([](auto& r) { r.connected(); });
    }
    void on_disconnected() override {
        tell_all([](auto& r) { r.disconnected(); });
    }
    /// What the line does with those who stand in it, it does by itself.
    void on_expired() override {
        displaced_.clear();
        creating_.clear();
        const auto queued = std::exchange(in_line_, {});
        to_enter_.clear();
        for (const auto key : keys()) {
            auto& a = all.at(key);
            a.paused = a.awaits_session = false;
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
    /// No two nodes for one lease.
    void was_created(const std::string& name, node_id id) override {
        const auto it = all.find(creating_[id]);
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
    void heard(waiter key, const reply& event) override {
        tell(key, [&](auto& rules) {
            if (event.name == the_directory)
                rules.directory_changed();
            else if (event.name == the_counter)
                rules.counter_changed();
            else
                rules.own_changed(*rules::own_id(event.name, ids), event.what == reply::deleted);
        });
    }
    bool in_use(const std::string& name) const override {
        return std::any_of(all.begin(), all.end(), [&](const auto& one) {
            const auto& held = one.second.held;
            return std::find(held.begin(), held.end(), name) != held.end();
        });
    }
    void enqueue(std::uint64_t key) {
        all.at(key).wanted.clear();
        all.at(key).nodes.clear();
        if (std::find(to_enter_.begin(), to_enter_.end(), key) == to_enter_.end())
            to_enter_.push_back(key);
        in_line_.insert(key);
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
        submit({.what = request::create, .name = prefix},
               [this, key, id = what.id](const reply& r) {
                   tell(key, [&](auto& rules) {
                       rules.created(id, {.result = r.result, .code = 0, .name = r.name});
                   });
               });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::list& what) {
        const auto ask = [&](answer done) { list(what.settle, true, std::move(done)); };
        look(key, the_directory, ask, [this, key, number = what.number](const reply& r) {
            tell(key, [&](auto& rules) { rules.listed(number, {r.result}, r.children); });
        });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::read_permits& what) {
        look(key, the_counter, [this, key, number = what.number](const reply& r) {
            tell(key, [&](auto& rules) { rules.permits_read(number, {r.result}, r.value); });
        });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::watch_own& what) {
        look(key, what.name, [this, key, id = what.id](const reply& r) {
            tell(key, [&](auto& rules) { rules.own_watched(id, {r.result}); });
        });
    }
    void obey(std::uint64_t key, acquirer&, const lease_act::forget&) { forget(key); }
    void obey(std::uint64_t key, acquirer&, const lease_act::make_parents&) {
        submit({.what = request::make, .name = {}}, [this, key](const reply& r) {
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
    void obey(std::uint64_t, acquirer& a, const lease_act::await_lease&) {
        a.awaits_session = true;
    }
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

    lease_world& world_;
    std::uint64_t last_ = 0;
    std::deque<std::uint64_t> to_enter_;
    std::set<std::uint64_t> in_line_; ///< who stands in the line, or is about to
    std::set<std::uint64_t> displaced_;
    std::map<node_id, std::uint64_t> creating_;
    std::set<std::string> prefixes_;
};

} // namespace paddock::test::model
