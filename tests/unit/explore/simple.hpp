#pragma once

#include "rules/names.hpp"
#include "rules/simple.hpp"
#include "unit/explore/ruled.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::explore {

namespace simple_act = rules::simple_act;

inline const std::string the_lock = "lock";

/// Callers of simple mutexes at one path: an object of the rules for each mutex.
class simple_scene final : public ruled<rules::simple, simple_scene> {
public:
    simple_scene(const setup& what, const story& note) : ruled(what, note) {
        for (const auto& one : all) {
            if (one.object < objects.size()) continue;
            auto& ids = client_of(one).ids;
            objects.emplace_back(one.client, rules::simple(ids, {.fail_on_expiry = left.fail}));
            tell(one.object, &rules::simple::connected);
        }
        holds_.resize(objects.size());
    }

private:
    friend ruled;
    struct hold {
        std::string data{}; ///< of the nodes of the last race
        node_id id = 0;     ///< 0: it holds nothing
        std::int64_t czxid = 0;
    };

    // The application.
    void enter(std::size_t key) override {
        tell(all[key].object, &rules::simple::join, key, all[key].immediate);
    }
    void quit(std::size_t key) override { tell(all[key].object, &rules::simple::quit, key); }
    void release(std::size_t key) override {
        const auto id = std::exchange(holds_[all[key].object].id, 0);
        tell(all[key].object, &rules::simple::release, id);
    }
    /// Without a marker.
    std::string create_foreign() override {
        zk.create_as(left.ours ? client(0).own().id : 100, the_lock);
        return the_lock;
    }
    bool foreign_may_come() const override { return !zk.find(the_lock); }
    /// An administrator deletes the lock's node; a careful one deletes its marker, too.
    std::size_t kicks() const override { return zk.find(the_lock) && foreign.empty() ? 2 : 0; }
    void kick(std::size_t careful) override {
        const auto marker = zk.find(the_lock)->data;
        zk.remove(the_lock);
        if (careful != 0)
            zk.remove(marker);
        else
            lone_markers_.insert(marker);
    }

    // Answers and events.
    void on_expired(std::size_t client) override {
        for (const auto& [of, n] : std::map(sweeping_))
            if (of.first == client) was_removed(client, of.second);
        ruled::on_expired(client);
    }
    void was_removed(std::size_t client, node_id id) override {
        const auto it = sweeping_.find({client, id});
        if (it == sweeping_.end()) return; // an orphan
        const auto n = it->second;
        sweeping_.erase(it);
        tell(n, &rules::simple::swept, id);
    }
    void heard(std::uint64_t n, const reply& event) override {
        tell(n, &rules::simple::changed, event.what == reply::deleted);
    }
    void answered(const reply& r) override {
        const auto& asked = r.to;
        const auto n = asked.waiter;
        using simple = rules::simple;
        if (asked.what == request::create_both)
            tell(n, &simple::raced, asked.id, r.result, r.code);
        else if (asked.what == request::exists)
            tell(n, &simple::glanced, asked.key, r.result, r.code);
        else if (asked.what == request::make)
            tell(n, &simple::parents_made, r.result, r.code);
        else if (asked.what == request::get)
            tell(n, &simple::looked, asked.number,
                 simple::looked_answer{.result = r.result,
                                       .code = r.code,
                                       .own_data = r.data == holds_[n].data,
                                       .of_session = r.owner == link_of(n).own().id,
                                       .czxid = r.czxid});
    }

    // Requests.
    void carry_out(std::size_t n, const simple_act::glance& a) {
        ask(n, {.what = request::exists, .name = the_lock, .key = a.key});
    }
    void carry_out(std::size_t n, const simple_act::reserve&) { tell(n, &rules::simple::reserved); }
    void carry_out(std::size_t, const simple_act::unreserve&) {}
    void carry_out(std::size_t n, const simple_act::race& a) {
        must(holds_[n].id == 0, "a race for what it holds");
        holds_[n].data = rules::marker_name(link_of(n).ids, a.id, the_lock);
        ask(n,
            {.what = request::create_both, .name = holds_[n].data, .other = the_lock, .id = a.id});
    }
    void carry_out(std::size_t n, const simple_act::look& a) {
        look(n, {.what = request::get, .name = the_lock, .number = a.number});
    }
    void carry_out(std::size_t n, const simple_act::forget&) { link_of(n).forget(n, the_lock); }
    void carry_out(std::size_t n, const simple_act::make_parents&) {
        ask(n, {.what = request::make});
    }
    void carry_out(std::size_t n, const simple_act::sweep& a) {
        must(!a.both || a.id != holds_[n].id, "a node that is known to be gone is deleted");
        sweeping_.emplace(std::pair(objects[n].client, a.id), n);
        const auto marker = rules::marker_name(link_of(n).ids, a.id, the_lock);
        if (a.both)
            link_of(n).remove(marker, a.id);
        else
            link_of(n).remove_alone(marker, a.id);
    }
    void carry_out(std::size_t, const simple_act::request_revoke&) {}
    void carry_out(std::size_t, const simple_act::restore_data&) {}
    void carry_out(std::size_t n, const simple_act::taint&) { link_of(n).taint(); }
    void carry_out(std::size_t n, const simple_act::pause&) { objects[n].paused = true; }
    void carry_out(std::size_t n, const simple_act::await_lease&) {
        objects[n].awaits_lease = true;
    }

    // Results for the callers.
    void carry_out(std::size_t n, const simple_act::grant& a) {
        answer(a.key, stage::held);
        const auto& own = link_of(n).own();
        const auto marker = rules::marker_name(link_of(n).ids, a.id, the_lock);
        const auto* const node = zk.find(the_lock);
        const bool there = node && node->born == a.czxid;
        must(there || own.heard < zk.kicked_at, "granted without a node");
        must(!there || node->data == marker, "granted another's node");
        for (const auto& other : holds_)
            must(other.id == 0 || other.czxid != a.czxid, "two hold the lock");
        for (std::size_t key = 0; key < a.key; ++key)
            must(all[key].object != n || all[key].immediate || all[key].at != stage::waiting,
                 "granted before another");
        holds_[n].id = a.id;
        holds_[n].czxid = a.czxid;
    }
    void carry_out(std::size_t, const simple_act::give_up& a) {
        answer(a.key, stage::left, all[a.key].immediate);
    }
    void carry_out(std::size_t, const simple_act::fail& a) {
        const bool expired = a.reason == simple_act::why::session_expired;
        const bool offline = a.reason == simple_act::why::not_connected;
        answer(a.key, stage::left, (expired && left.fail) || (offline && all[a.key].immediate));
    }
    void carry_out(std::size_t n, const simple_act::lose&) {
        const auto* const node = zk.find(the_lock);
        must(!node || node->born != holds_[n].czxid, "lost what it still has");
        holds_[n].id = 0;
        for (std::size_t key = 0; key < all.size(); ++key)
            if (all[key].object == n && all[key].at == stage::held) {
                lost(key);
                all[key].at = stage::left;
            }
    }

    // Checks.
    bool in_use(const std::string& name) const override {
        for (const auto& one : holds_)
            if (one.id != 0 && name == one.data) return true;
        return false;
    }
    void before_execution(const request& r) override {
        must(r.what != request::remove || r.name != the_lock, "the lock's node is deleted alone");
        const auto* const node = zk.find(the_lock);
        if (r.what != request::remove_both || !node || !zk.find(r.name)) return;
        must(node->data == r.name || lone_markers_.contains(r.name), "another's node is deleted");
        if (node->data == r.name) return;
        zk.kick_next(); // the marker without a node takes another node with it
        lone_markers_.insert(node->data);
        if (node->data.empty()) foreign.clear();
    }
    /// Nothing is under way: callers wait only for a lock that is taken.
    void check_quiet() const override {
        for (const auto& one : all)
            must(one.at != stage::waiting || zk.find(the_lock), "waits although the lock is free");
        for (std::size_t n = 0; n < clients; ++n)
            must(client(n).watches() <= 1, "too many watches");
    }
    void see_kind(shape& out) const override {
        see_objects(out);
        for (const auto& one : holds_) {
            out.name(one.data);
            out.put(shape::node, one.id);
            out.put(shape::zxid, one.id == 0 ? 0 : one.czxid);
        }
        out.add(sweeping_.size());
        for (const auto& [of, n] : sweeping_)
            out.put(shape::node, of.second), out.add(n);
        out.add(lone_markers_.size());
        for (const auto& one : lone_markers_)
            out.name(one);
    }

    std::vector<hold> holds_;
    /// The object for which a client sweeps a node.
    std::map<std::pair<std::size_t, node_id>, std::size_t> sweeping_;
    std::set<std::string> lone_markers_; ///< markers whose lock node an administrator deleted
};

} // namespace paddock::test::explore
