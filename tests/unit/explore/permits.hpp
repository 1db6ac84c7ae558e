#pragma once

#include "rules/names.hpp"
#include "rules/permits.hpp"
#include "unit/explore/ruled.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::explore {

namespace permit_act = rules::permit_act;

/// Calls of one semaphore's acquire(): an object of the rules for each. The queue that they join is
/// a plain model of rules::queue.
class permit_scene final : public ruled<rules::permits, permit_scene> {
public:
    permit_scene(const setup& what, const story& note) : ruled(what, note), entries_(all.size()) {
        if (what.counter || what.growths > 0) zk.count(left.permits);
        for (const auto& one : all) {
            rules::permit_terms how{.count = static_cast<std::size_t>(one.as - '0'),
                                    .immediate = one.immediate,
                                    .fail_on_expiry = left.fail};
            if (!what.counter && what.growths == 0) how.permits = left.permits;
            objects.emplace_back(one.client, rules::permits(client_of(one).ids, how));
        }
    }

private:
    friend ruled;
    enum class queue_stage { none, joining, waiting, admitted, leaving };
    struct entry {
        queue_stage at = queue_stage::none;
        std::set<node_id> wanted{};       ///< ids of its creates, since it joined the queue
        std::vector<std::string> nodes{}; ///< of those creates, unless executed late
        std::vector<std::string> held{};
    };

    // The application.
    void enter(std::size_t key) override {
        if (link_of(key).connected()) objects[key].rules.connected();
        tell(key, &rules::permits::join);
    }
    void quit(std::size_t key) override { tell(key, &rules::permits::quit); }
    void release(std::size_t key) override {
        entries_[key].held.clear();
        tell(key, &rules::permits::release);
    }
    void grow() override { zk.count(++left.permits); }
    /// Another process with Curator's recipe, which does not wait in the queue.
    std::string create_foreign() override {
        return zk.create(100, "_c_c0ffee00-0000-4000-8000-00000000feed-lease-");
    }

    // The queue.
    void waiting_moves(std::vector<move>& out) const override {
        ruled::waiting_moves(out);
        for (std::size_t key = 0; key < all.size(); ++key) {
            const auto at = entries_[key].at;
            const bool next =
                at == queue_stage::waiting && !queue_.empty() && queue_.front() == key;
            if (link_of(key).connected() && (next || at == queue_stage::joining))
                out.push_back({move::advance, key});
        }
    }
    void end_wait(const move& m) override {
        if (m.what != move::advance) return ruled::end_wait(m);
        auto& at = entries_[m.index].at;
        if (at == queue_stage::waiting) {
            at = queue_stage::admitted;
            tell(m.index, &rules::permits::admitted);
        } else if (all[m.index].immediate && !queue_.empty()) {
            exclude(m.index);
        } else {
            at = queue_stage::waiting;
            queue_.push_back(m.index);
        }
    }
    void exclude(std::size_t key) {
        entries_[key].at = queue_stage::none;
        answer(key, stage::left);
        tell(key, &rules::permits::excluded);
    }
    void leave(std::size_t key) {
        entries_[key].at = queue_stage::none;
        std::erase(queue_, key);
    }
    void session_ended(std::size_t client) override {
        std::erase_if(queue_, [&](auto key) { return all[key].client == client; });
    }
    bool takes_part(std::size_t key) const override {
        return all[key].at != stage::idle && all[key].at != stage::out;
    }
    void on_connected(std::size_t client) override {
        for (std::size_t key = 0; key < all.size(); ++key)
            if (all[key].client == client && entries_[key].at == queue_stage::leaving) leave(key);
        ruled::on_connected(client);
    }
    /// The calls in the queue join it again, or fail.
    void on_expired(std::size_t client) override {
        std::vector<std::size_t> rejoining;
        for (std::size_t key = 0; key < all.size(); ++key) {
            if (all[key].client != client) continue;
            const auto at = std::exchange(entries_[key].at, queue_stage::none);
            if (at != queue_stage::joining && at != queue_stage::waiting) continue;
            entries_[key].at = queue_stage::joining;
            rejoining.push_back(key);
        }
        ruled::on_expired(client);
        for (const auto key : rejoining)
            if (left.fail) exclude(key);
    }

    // Answers and events.
    void heard(std::uint64_t key, const reply& event) override {
        if (!takes_part(key)) return;
        if (event.to.name == the_directory) return tell(key, &rules::permits::directory_changed);
        if (event.to.name == the_counter) return tell(key, &rules::permits::counter_changed);
        tell(key, &rules::permits::own_changed,
             *rules::own_id(event.to.name, client(all[key].client).ids),
             event.what == reply::deleted);
    }
    void answered(const reply& r) override {
        const auto& asked = r.to;
        const auto key = asked.waiter;
        using permits = rules::permits;
        const permits::looked_answer looked{.result = r.result};
        if (!takes_part(key)) return;
        if (asked.what == request::create)
            tell(key, &permits::created, asked.id, permits::created_answer{r.result, 0, r.name});
        else if (asked.what == request::list && asked.number != 0)
            tell(key, &permits::listed, asked.number, looked, r.children);
        else if (asked.what == request::get && asked.name == the_counter)
            tell(key, &permits::permits_read, asked.number, looked, r.value);
        else if (asked.what == request::get)
            tell(key, &permits::own_watched, asked.id, looked);
        else if (asked.what == request::make)
            tell(key, &permits::parents_made, r.result, 0);
    }

    // Requests.
    void carry_out(std::size_t key, const permit_act::join_queue&) {
        auto& one = entries_[key];
        one.wanted.clear();
        one.nodes.clear();
        one.at = queue_stage::joining;
        std::erase(queue_, key); // its place was lost
    }
    void carry_out(std::size_t key, const permit_act::leave&) {
        if (link_of(key).connected() || entries_[key].at == queue_stage::joining)
            leave(key);
        else
            entries_[key].at = queue_stage::leaving;
    }
    void carry_out(std::size_t key, const permit_act::create& a) {
        auto& c = link_of(key);
        must(c.connected(), "a create without a connection");
        must(all[key].at == stage::waiting, "a create after the answer");
        entries_[key].wanted.insert(a.id);
        ask(key, {.what = request::create,
                  .name = rules::naming::of_leases().prefix(c.ids, a.id),
                  .id = a.id});
    }
    void carry_out(std::size_t key, const permit_act::list& a) {
        look(key, {.what = request::list, .settle = a.settle, .number = a.number});
    }
    void carry_out(std::size_t key, const permit_act::read_permits& a) {
        look(key, {.what = request::get, .name = the_counter, .number = a.number});
    }
    void carry_out(std::size_t key, const permit_act::watch_own& a) {
        look(key, {.what = request::get, .name = a.name, .id = a.id});
    }
    void carry_out(std::size_t, const permit_act::look&) {} // without a clock there is none
    void carry_out(std::size_t, const permit_act::request_revoke&) {}
    void carry_out(std::size_t, const permit_act::restore_data&) {}
    void carry_out(std::size_t key, const permit_act::forget&) {
        for (const auto& name : {the_directory, the_counter})
            link_of(key).forget(key, name);
        for (const auto& name : entries_[key].nodes)
            link_of(key).forget(key, name);
    }
    void carry_out(std::size_t key, const permit_act::make_parents&) {
        ask(key, {.what = request::make});
    }
    void carry_out(std::size_t key, const permit_act::sweep& a) {
        link_of(key).remove(a.name, a.id);
    }
    void carry_out(std::size_t key, const permit_act::taint&) { link_of(key).taint(); }
    void carry_out(std::size_t key, const permit_act::pause&) { objects[key].paused = true; }
    void carry_out(std::size_t key, const permit_act::await_lease&) {
        objects[key].awaits_lease = true;
    }

    // Results of the calls.
    void carry_out(std::size_t key, const permit_act::grant& a) {
        answer(key, stage::held);
        const std::set<std::string> different(a.names.begin(), a.names.end());
        must(different.size() == static_cast<std::size_t>(all[key].as - '0'), "a wrong number");
        for (const auto& name : different)
            check_node(all[key], name);
        entries_[key].held = a.names;
        if (left.guard) tell(key, &rules::permits::watch_hold);
    }
    void carry_out(std::size_t key, const permit_act::give_up&) {
        answer(key, stage::left, all[key].immediate);
    }
    void carry_out(std::size_t key, const permit_act::fail& a) {
        const bool expired = a.reason == permit_act::why::session_expired;
        const bool offline = a.reason == permit_act::why::not_connected;
        answer(key, stage::left, (expired && left.fail) || (offline && all[key].immediate));
    }
    void carry_out(std::size_t key, const permit_act::lose& a) {
        lost(key);
        const auto& held = entries_[key].held;
        must(
            std::any_of(held.begin(), held.end(), [&](const auto& name) { return !zk.find(name); }),
            "lost what it still has");
        if (a.session_ended) entries_[key].held.clear();
    }
    void carry_out(std::size_t key, const permit_act::out&) { out(key); }

    // Checks.
    bool in_use(const std::string& name) const override {
        return std::any_of(entries_.begin(), entries_.end(), [&](const entry& one) {
            return std::find(one.held.begin(), one.held.end(), name) != one.held.end();
        });
    }
    /// No call has more nodes than it wants permits, but by late creates.
    void was_created(const reply& r) override {
        auto& one = entries_[r.to.waiter];
        if (!one.wanted.contains(r.to.id)) return;
        one.nodes.push_back(r.name);
        const auto living = std::count_if(one.nodes.begin(), one.nodes.end(), [&](const auto& n) {
            return zk.find(n) && !client_of(all[r.to.waiter]).removing(n);
        });
        must(living <= all[r.to.waiter].as - '0', "one too many", r.name);
    }
    void check() override {
        const auto living = static_cast<int>(zk.living().size());
        foreign_holds_ = !foreign.empty() && (foreign_holds_ || living <= left.permits);
        int granted = foreign_holds_ ? 1 : 0;
        for (const auto& one : entries_)
            for (const auto& name : one.held)
                granted += zk.find(name) ? 1 : 0;
        must(granted <= left.permits, "too many permits are granted");
    }
    /// Nothing is under way: there are too few permits for the first in the queue.
    void check_quiet() const override {
        for (std::size_t key = 0; key < all.size(); ++key) {
            must(all[key].at != stage::left, "has left, and is not out");
            if (all[key].at != stage::waiting) continue;
            must(!queue_.empty(), "waits outside of the queue");
            must(queue_.front() != key || static_cast<int>(zk.living().size()) > left.permits,
                 "waits although there are permits");
        }
    }
    void see_kind(shape& out) const override {
        see_objects(out);
        out.add(left.permits, foreign_holds_, queue_.size());
        for (const auto key : queue_)
            out.add(key);
        for (std::size_t key = 0; key < all.size(); ++key) {
            const auto& one = entries_[key];
            out.add(one.at, one.held.size());
            for (const auto id : one.wanted)
                if (link_of(key).ids.claimed(id)) out.put(shape::node, id);
            for (const auto* const names : {&one.nodes, &one.held})
                for (const auto& name : *names)
                    if (zk.find(name) || left.guard) out.name(name);
        }
    }

    std::vector<entry> entries_;
    std::vector<std::size_t> queue_; ///< keys
    bool foreign_holds_ = false;
};

} // namespace paddock::test::explore
