#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "rules/simple.hpp"
#include "unit/model_ensemble.hpp"
#include "unit/model_link.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Clients that take one simple lock, for random histories of rules::simple.
namespace paddock::test::model {

namespace simple_act = rules::simple_act;

inline const std::string the_lock = "lock";

/// One simple_mutex, as the application knows it.
struct simple_object {
    simple_object(rules::claims& ids, rules::simple_terms terms) : how(terms), rules(ids, terms) {}
    rules::simple_terms how;
    rules::simple rules;
    std::map<rules::caller_key, bool> callers{}; ///< who waits, and whether immediate
    bool paused = false, awaits_lease = false;
    std::string data{}; ///< of the nodes of the last race
    node_id held = 0;   ///< 0: it holds nothing
    bool lost = false;  ///< what it holds
    std::int64_t held_zxid = 0;
};

struct simple_world {
    ensemble zk;
    std::set<std::string> bereft{}; ///< markers whose lock node an administrator has deleted
    std::function<void(const std::string&)> note;
    std::function<void(const session&, const std::string& marker, std::int64_t czxid)> granted;

    /// The marker that was made together with the lock's node.
    std::string marker() const {
        const auto czxid = zk.czxid(the_lock) - 1;
        for (const auto& [name, node] : zk.leader().nodes)
            if (node.czxid == czxid) return name;
        return {};
    }
    /// A request is executed for a client, now or too late.
    void check_removal(const request& r) {
        must(r.what != request::remove || r.name != the_lock, "the lock's node is deleted alone");
        if (r.what != request::remove_both || !zk.exists(r.name) || !zk.exists(r.other)) return;
        const auto its = marker();
        if (its == r.name) return;
        must(bereft.contains(r.name), "a stranger's node is deleted");
        bereft.insert(its); // one misfortune leads to the next
    }
};

/// What the rooms around rules::simple do.
class simple_client final : public link {
public:
    simple_client(simple_world& w, int number, int room)
        : link(w.zk, w.note, number), world_(w), room_(room) {}

    // The application.
    void add(rules::simple_terms how) { all.push_back(std::make_unique<simple_object>(ids, how)); }
    void enter(simple_object& o, bool immediate) {
        note("enters as", ++last_);
        o.callers.emplace(last_, immediate);
        tell(o, &rules::simple::enter, last_, immediate);
    }
    void quit(simple_object& o, rules::caller_key who) {
        note("quits", who);
        o.callers.erase(who);
        tell(o, &rules::simple::quit, who);
    }
    void release(simple_object& o) {
        note("releases", o.held);
        o.lost = false;
        tell(o, &rules::simple::release, std::exchange(o.held, 0));
    }
    /// The holder looks at the ensemble, and finds what it finds.
    void verify(simple_object& o) {
        const auto& zk = world_.zk;
        if (!zk.exists(the_lock) || zk.czxid(the_lock) != o.held_zxid)
            tell(o, &rules::simple::gone, o.held);
    }

    void execute() {
        world_.check_removal(own.to_server.front());
        link::execute();
    }
    void lapse() { // until somebody awaits the lease
        for (auto& o : all)
            o->rules.lease(false);
    }
    /// Whether somebody had to be patient.
    bool patience() {
        bool any = retry_removals();
        for (auto& o : all) {
            const bool paused = std::exchange(o->paused, false);
            const bool awaits = std::exchange(o->awaits_lease, false);
            any = any || paused || awaits;
            if (paused) tell(*o, &rules::simple::resume);
            if (!awaits) continue;
            o->rules.lease(true);
            tell(*o, &rules::simple::lease_renewed);
        }
        return any;
    }
    std::size_t used() const { return used_; }
    bool somebody_immediate() const {
        return std::any_of(all.begin(), all.end(), [](const auto& o) {
            return std::any_of(o->callers.begin(), o->callers.end(),
                               [](const auto& one) { return one.second; });
        });
    }
    std::vector<std::unique_ptr<simple_object>> all;
    bool can_watch = true; ///< there is room for a watch

private:
    using link::note;
    void note(const std::string& what, std::uint64_t about) {
        note(what + ' ' + std::to_string(about));
    }

    template <typename What, typename... Args>
    void tell(simple_object& o, What what, const Args&... args) {
        (o.rules.*what)(args...);
        for (auto actions = o.rules.take(); !actions.empty(); actions = o.rules.take())
            for (const auto& one : actions)
                std::visit([&](const auto& a) { obey(o, a); }, one);
    }
    void on_connected() override {
        for (auto& o : all)
            tell(*o, &rules::simple::connected);
    }
    void on_disconnected() override {
        for (auto& o : all)
            tell(*o, &rules::simple::disconnected);
    }
    void on_expired() override {
        used_ -= sweeping_.size();
        for (const auto& [id, o] : std::exchange(sweeping_, {}))
            tell(*o, &rules::simple::swept, id);
        serve();
        for (auto& o : all)
            tell(*o, &rules::simple::expired);
    }
    void was_created(const std::string&, node_id) override {}
    void was_removed(node_id id) override {
        const auto it = sweeping_.find(id);
        if (it == sweeping_.end()) return; // an orphan
        auto& o = *it->second;
        sweeping_.erase(it);
        give();
        tell(o, &rules::simple::swept, id);
    }
    void heard(waiter who, const reply& event) override {
        tell(*all.at(who), &rules::simple::changed, event.what == reply::deleted);
    }
    bool in_use(const std::string& name) const override {
        return std::any_of(all.begin(), all.end(), [&](const auto& o) {
            return o->held != 0 && !o->lost && name == marker(o->held);
        });
    }
    std::string marker(node_id id) const { return rules::marker_name(ids, id, the_lock); }
    waiter number_of(const simple_object& o) const {
        waiter n = 0;
        while (all.at(n).get() != &o)
            ++n;
        return n;
    }

    void give() {
        --used_;
        serve();
    }
    void serve() {
        while (!queue_.empty() && used_ < room_) {
            auto& next = *queue_.front();
            queue_.pop_front();
            ++used_;
            tell(next, &rules::simple::reserved);
        }
    }

    void obey(simple_object& o, const simple_act::glance& a) {
        submit({.what = request::exists, .name = the_lock}, [this, &o, a](const reply& r) {
            tell(o, &rules::simple::glanced, a.who, r.result, r.code);
        });
    }
    void obey(simple_object& o, const simple_act::reserve&) {
        if (queue_.empty() && used_ < room_) {
            ++used_;
            return tell(o, &rules::simple::reserved);
        }
        queue_.push_back(&o);
        tell(o, &rules::simple::crowded);
    }
    void obey(simple_object& o, const simple_act::unreserve&) {
        if (std::erase(queue_, &o) > 0) return serve();
        must(used_ > 0, "gives back what it does not have");
        give();
    }
    void obey(simple_object& o, const simple_act::race& a) {
        must(o.held == 0 || o.lost, "a race for what it holds");
        o.data = marker(a.id);
        must(races_.insert(o.data).second, "an id in two races");
        submit({.what = request::create_both, .name = o.data, .other = the_lock},
               [this, &o, a](const reply& r) {
                   tell(o, &rules::simple::raced, a.id, r.result, r.code);
               });
    }
    void obey(simple_object& o, const simple_act::look& a) {
        const bool watched = can_watch;
        const auto seen = [this, &o, a, watched](const reply& r) {
            tell(o, &rules::simple::looked, a.number,
                 rules::simple::looked_answer{.result = r.result,
                                              .code = r.code,
                                              .ours = r.data == o.data,
                                              .of_session = r.owner == own.id,
                                              .czxid = r.czxid,
                                              .watched = watched});
        };
        if (watched)
            look(number_of(o), the_lock, seen);
        else
            submit({.what = request::exists, .name = the_lock}, seen);
    }
    void obey(simple_object& o, const simple_act::forget&) { forget(number_of(o)); }
    void obey(simple_object& o, const simple_act::make_parents&) {
        submit({.what = request::make, .name = {}}, [this, &o](const reply& r) {
            tell(o, &rules::simple::parents_made, r.result, r.code);
        });
    }
    void obey(simple_object& o, const simple_act::sweep& a) {
        must(!a.both || a.id != o.held, "a node that is known to be gone is deleted");
        sweeping_.emplace(a.id, &o);
        if (a.both)
            remove(marker(a.id), a.id);
        else
            remove_alone(marker(a.id), a.id);
    }
    void obey(simple_object&, const simple_act::taint&) {
        tainted = true;
        if (connected) search();
    }
    void obey(simple_object& o, const simple_act::pause&) { o.paused = true; }
    void obey(simple_object& o, const simple_act::await_lease&) { o.awaits_lease = true; }
    void obey(simple_object& o, const simple_act::grant& a) {
        note("is granted", a.who);
        outcome_of(o, a.who);
        must(connected, "granted without a connection");
        o.held = a.id;
        o.lost = false;
        o.held_zxid = a.czxid;
        world_.granted(own, marker(a.id), a.czxid);
    }
    void obey(simple_object& o, const simple_act::give_up& a) {
        must(outcome_of(o, a.who), "gave up");
    }
    void obey(simple_object& o, const simple_act::fail& a) {
        const bool immediate = outcome_of(o, a.who);
        using simple_act::why;
        const bool throttled = a.reason == why::refused; // the look before it
        must((immediate && (throttled || a.reason == why::not_connected)) ||
                 (a.reason == why::session_expired && o.how.fail_on_expiry) ||
                 (a.reason == why::over_budget && o.how.fail_over_budget),
             "failed");
    }
    void obey(simple_object& o, const simple_act::lose& a) {
        const auto& zk = world_.zk;
        must(a.session_over || !zk.exists(the_lock) || zk.czxid(the_lock) != o.held_zxid,
             "lost what it still has");
        note("loses", o.held);
        o.lost = true;
    }
    /// Exactly one for each call; whether that was an immediate one.
    bool outcome_of(simple_object& o, rules::caller_key who) {
        const auto it = o.callers.find(who);
        must(it != o.callers.end(), "two outcomes of one call");
        const bool immediate = it->second;
        o.callers.erase(it);
        return immediate;
    }

    simple_world& world_;
    rules::caller_key last_ = 0;
    std::size_t room_, used_ = 0; ///< of the budget of nodes
    std::deque<simple_object*> queue_;
    std::map<node_id, simple_object*> sweeping_;
    std::set<std::string> races_;
};

} // namespace paddock::test::model
