#pragma once

#include "rules/names.hpp"
#include "rules/queue.hpp"
#include "unit/explore/ruled.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::explore {

namespace queue_act = rules::queue_act;
using rules::role;

/// Contenders in the fair queue of a lock: one object of the rules per client.
class queue_scene final : public ruled<rules::copied_queue, queue_scene> {
public:
    queue_scene(const setup& what, const story& note) : ruled(what, note), entries_(all.size()) {
        for (std::size_t key = 0; key < all.size(); ++key) {
            if (all[key].as != 'X') names_ = rules::naming::of_shared_mutex();
            entries_[key].as = all[key].as == 'R' ? role::shared : role::exclusive;
        }
        objects.reserve(clients);
        for (std::size_t n = 0; n < clients; ++n) {
            const auto most = left.narrow ? 1 : rules::queue::unlimited;
            objects.emplace_back(n, rules::copied_queue(names_, client(n).ids, most));
            tell(n, &rules::queue::connected);
        }
    }

private:
    friend ruled;
    struct entry {
        role as;
        node_id id = 0;
        std::string node{}; ///< the last one created for it in time, or held
        std::string next{}; ///< the one that replaces, or has replaced, it
    };

    // The application.
    void enter(std::size_t key) override {
        const rules::contender_terms how{
            .as = entries_[key].as, .immediate = all[key].immediate, .fail_on_expiry = left.fail};
        tell(all[key].client, &rules::queue::join, key, how);
    }
    void quit(std::size_t key) override { tell(all[key].client, &rules::queue::quit, key); }
    void release(std::size_t key) override { tell(all[key].client, &rules::queue::release, key); }
    bool may_downgrade(std::size_t key) const override {
        return entries_[key].as == role::exclusive;
    }
    void downgrade(std::size_t key) override {
        tell(all[key].client, &rules::queue::downgrade, key);
    }
    std::string create_foreign() override {
        const char* const kind = !names_.has_shared() ? "lock-"
                                 : left.reader        ? "__READ__"
                                                      : "__WRIT__";
        return zk.create(100, std::string("_c_c0ffee00-0000-4000-8000-00000000feed-") + kind);
    }

    // Answers and events.
    void heard(std::uint64_t n, const reply& event) override {
        tell(n, &rules::queue::node_event, event.to.name, event.what == reply::deleted);
    }
    void answered(const reply& r) override {
        const auto& asked = r.to;
        const auto n = asked.waiter;
        using queue = rules::queue;
        if (asked.what == request::create)
            tell(n, &queue::created, asked.key, asked.id,
                 queue::created_answer{r.result, 0, r.name, r.czxid});
        else if (asked.what == request::list && asked.number != 0)
            tell(n, &queue::listed, r.result, 0, r.children);
        else if (asked.what == request::make)
            tell(n, &queue::parents_made, r.result, 0);
        else if (asked.what == request::get && asked.id == 0)
            tell(n, &queue::blocker_watched, asked.name, r.result);
        else if (asked.what == request::get)
            tell(n, &queue::own_watched, asked.key, asked.id,
                 queue::own_answer{.result = r.result, .czxid = r.czxid});
        else if (asked.what == request::swap)
            tell(n, &queue::downgraded, asked.key, asked.id, r.result, 0);
    }

    // Requests.
    void carry_out(std::size_t n, const queue_act::create& a) {
        must(client(n).seems_connected(), "a create without a connection");
        entries_[a.key].id = a.id;
        ask(n, {.what = request::create,
                .name = names_.prefix(client(n).ids, a.id, entries_[a.key].as),
                .key = a.key,
                .id = a.id});
    }
    void carry_out(std::size_t n, const queue_act::list& a) {
        ask(n, {.what = request::list, .settle = a.settle, .number = 1});
    }
    void carry_out(std::size_t n, const queue_act::make_parents&) {
        ask(n, {.what = request::make});
    }
    void carry_out(std::size_t n, const queue_act::watch_blocker& a) {
        look(n, {.what = request::get, .name = a.name});
    }
    void carry_out(std::size_t n, const queue_act::watch_own& a) {
        look(n, {.what = request::get, .name = a.name, .key = a.key, .id = a.id});
    }
    void carry_out(std::size_t n, const queue_act::forget& a) { client(n).forget(n, a.name); }
    void carry_out(std::size_t n, const queue_act::sweep& a) { client(n).remove(a.name, a.id); }
    void carry_out(std::size_t n, const queue_act::taint&) { client(n).taint(); }
    void carry_out(std::size_t n, const queue_act::pause&) { objects[n].paused = true; }
    void carry_out(std::size_t n, const queue_act::await_lease&) { objects[n].awaits_lease = true; }
    void carry_out(std::size_t, const queue_act::warn&) {}
    void carry_out(std::size_t n, const queue_act::downgrade& a) {
        entries_[a.key].next = a.name;
        ask(n,
            {.what = request::swap, .name = a.name, .other = a.old_name, .key = a.key, .id = a.id});
    }

    // Results for the contenders.
    void carry_out(std::size_t n, const queue_act::downgraded& a) {
        auto& one = entries_[a.key];
        note("contender", a.key, "shares the lock");
        one.as = role::shared;
        one.node = objects[n].rules.name_of(a.key);
        one.id = rules::own_id(one.node, client(n).ids).value();
    }
    void carry_out(std::size_t, const queue_act::downgrade_refused&) {
        must(false, "no downgrade");
    }
    void carry_out(std::size_t, const queue_act::request_revoke&) {}
    void carry_out(std::size_t, const queue_act::restore_data&) {}
    void carry_out(std::size_t n, const queue_act::grant& a) {
        answer(a.key, stage::held);
        entries_[a.key].node = a.name;
        check_node(all[a.key], a.name);
        const auto* const node = zk.find(a.name);
        must(!node || node->born == a.czxid, "a wrong czxid");
        if (left.guard) tell(n, &rules::queue::watch_hold, a.key);
        if (!node) return;
        for (const auto* const other : zk.living()) {
            if (names_.sequence(other->name) >= names_.sequence(a.name)) continue;
            const bool orphan = other->owner == client(n).own().id && !in_use(other->name);
            must(orphan || !conflict(a.name, other->name), "granted before", other->name);
        }
        for (std::size_t key = 0; key < all.size(); ++key)
            must(key == a.key || !holds(key) || !conflict(a.name, entries_[key].node),
                 "two hold the lock", entries_[key].node);
    }
    void carry_out(std::size_t, const queue_act::give_up& a) {
        answer(a.key, stage::left, all[a.key].immediate);
    }
    void carry_out(std::size_t, const queue_act::fail& a) {
        const bool expired = a.reason == queue_act::why::session_expired;
        const bool offline = a.reason == queue_act::why::not_connected;
        answer(a.key, stage::left, (expired && left.fail) || (offline && all[a.key].immediate));
    }
    void carry_out(std::size_t, const queue_act::lose& a) {
        const auto& one = entries_[a.key];
        lost(a.key);
        must(!zk.find(one.node) && !zk.find(one.next), "lost what it still has", one.node);
    }
    void carry_out(std::size_t, const queue_act::out& a) { out(a.key); }
    // Its locks have no keys.
    void carry_out(std::size_t, const queue_act::directory_refused&) {}
    void carry_out(std::size_t, const queue_act::directory_shared&) {}
    void carry_out(std::size_t, const queue_act::directory_left&) {}

    // Checks.
    bool in_use(const std::string& name) const override {
        for (std::size_t key = 0; key < all.size(); ++key) {
            const auto& one = entries_[key];
            if (all[key].at >= stage::lost) continue;
            if (one.node == name || one.next == name || node_of(key) == name) return true;
        }
        return false;
    }
    std::string_view node_of(std::size_t key) const {
        return objects[all[key].client].rules.name_of(key);
    }
    /// Whether the two cannot have the lock at the same time.
    bool conflict(const std::string& a, const std::string& b) const {
        const auto one = names_.read(a), other = names_.read(b);
        return one && other && (one->as == role::exclusive || other->as == role::exclusive);
    }
    bool holds(std::size_t key) const {
        return all[key].at == stage::held && zk.find(entries_[key].node);
    }
    /// Whether a conflicting node is before it.
    bool blocked(const std::string& node) const {
        for (const auto* const other : zk.living())
            if (other->name != node && conflict(node, other->name) &&
                names_.sequence(other->name) <= names_.sequence(node))
                return true;
        return false;
    }
    /// Whether another contender of its client is before it: only after that one it learns that
    /// its own node is gone.
    bool behind_own(std::size_t key) const {
        for (std::size_t n = 0; n < all.size(); ++n) {
            const bool in_queue = all[n].at == stage::waiting || all[n].at == stage::held;
            if (in_queue && all[n].client == all[key].client &&
                names_.sequence(node_of(n)) < names_.sequence(node_of(key)))
                return true;
        }
        return false;
    }
    /// No contender has two nodes, but by late creates.
    void was_created(const reply& r) override {
        auto& one = entries_[r.to.key];
        const auto& c = client_of(all[r.to.key]);
        if (all[r.to.key].at >= stage::lost || r.to.id != one.id) return;
        must(!zk.find(one.node) || c.removing(one.node), "created twice", r.name);
        one.node = r.name;
    }
    void check() override {
        if (foreign.empty() || blocked(foreign)) return;
        for (std::size_t key = 0; key < all.size(); ++key)
            must(!holds(key) || !conflict(foreign, entries_[key].node), "two hold the lock",
                 entries_[key].node);
    }
    /// Nothing is under way: each waiting contender is blocked.
    void check_quiet() const override {
        std::vector<std::size_t> count(clients);
        for (std::size_t key = 0; key < all.size(); ++key) {
            const auto at = all[key].at;
            must(at < stage::lost || at == stage::out, "has left, and is not out");
            const std::string node(node_of(key));
            must(at != stage::waiting || behind_own(key) || (zk.find(node) && blocked(node)),
                 "waits although nothing blocks it", node);
            count[all[key].client] += at != stage::idle && at != stage::out;
        }
        for (std::size_t n = 0; n < clients; ++n) {
            must(client(n).watches() <= 2 * count[n], "too many watches");
            must(count[n] > 0 || objects[n].rules.idle(), "an empty queue is not idle");
        }
    }
    void see_kind(shape& out) const override {
        see_objects(out);
        for (std::size_t key = 0; key < all.size(); ++key) {
            const auto& one = entries_[key];
            const bool lives = all[key].at < stage::lost;
            out.add(one.as, one.next.empty());
            out.put(shape::node, lives ? one.id : 0);
            for (const auto& name : {one.node, one.next})
                out.name(zk.find(name) || lives ? name : "");
        }
    }

    rules::naming names_{"lock"};
    std::vector<entry> entries_;
};

} // namespace paddock::test::explore
