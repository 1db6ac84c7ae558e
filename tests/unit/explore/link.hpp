#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "unit/explore/ensemble.hpp"
#include "unit/explore/state_of_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test::explore {

using rules::node_id;

/// One client below its locks: session and connection, requests and their answers, watches, sweeps,
/// and the searches of a tainted directory.
class link {
public:
    /// The locks above it.
    class user {
    public:
        virtual void on_connected(std::size_t client) = 0;
        virtual void on_disconnected(std::size_t client) = 0;
        virtual void on_expired(std::size_t client) = 0;
        virtual void answered(const reply& r) = 0;
        virtual void heard(std::uint64_t waiter, const reply& event) = 0;
        virtual void was_removed(std::size_t, node_id) {}
        virtual bool in_use(const std::string& node) const = 0;

    protected:
        ~user() = default;
    };

    link(ensemble& zk, user& above, const story& note, std::size_t number)
        : note_(note), number_(number), zk_(zk), above_(above) {
        rules::state_of_rules::number_from(ids, number * 1'000'000); // ids are unique
        begin_session(1);
        zk.connect(own());
    }

    void connect(bool backwards) {
        if (own().id == 0) {
            note_("client", number_, "learns that its session has expired");
            removals.clear();
            alone_.clear();
            armed_.clear();
            heard_.clear();
            tainted = false;
            begin_session(2);
            above_.on_expired(number_);
        }
        note_("client", number_, "connects", backwards ? "backwards" : "");
        zk_.connect(own());
        std::vector<std::string> names(armed_.begin(), armed_.end());
        if (backwards) std::reverse(names.begin(), names.end());
        zk_.set_watches(own(), names);
        for (const auto& [name, id] : removals)
            send_remove(name, id);
        if (tainted) search();
        above_.on_connected(number_);
    }
    /// `answers_first`: whether lost requests are answered before the event of the lost connection.
    /// `last_not_sent`: whether the last request was not sent yet.
    void lose_connection(bool answers_first, bool last_not_sent = false) {
        note_("client", number_, "loses its connection",
              answers_first   ? "(answers first)"
              : last_not_sent ? "(last request not sent)"
                              : "");
        std::vector<request> not_sent;
        if (last_not_sent) {
            not_sent.push_back(own().to_server.back());
            own().to_server.pop_back();
        }
        std::vector<request> awaited;
        for (const auto& r : own().to_client)
            if (r.what == reply::answer) awaited.push_back(r.to);
        awaited.insert(awaited.end(), own().to_server.begin(), own().to_server.end());
        zk_.disconnect(own());
        losing_ = true;
        if (answers_first) answer_all(awaited, outcome::lost);
        losing_ = false;
        above_.on_disconnected(number_);
        answer_all(not_sent, outcome::not_sent);
        if (!answers_first) answer_all(awaited, outcome::lost);
        answer_all(std::exchange(unsent_, {}), outcome::not_sent);
    }
    /// Delivers the next answer or event.
    void hear() {
        const auto r = own().to_client.front();
        own().to_client.erase(own().to_client.begin());
        own().heard = std::max(own().heard, r.zxid);
        if (r.what == reply::answer) {
            own().seen = std::max(own().seen, r.zxid);
            return take(r);
        }
        note_("client", number_, "hears of", r.to.name);
        armed_.erase(r.to.name);
        const auto waiting = heard_.find(r.to.name);
        if (waiting == heard_.end()) return;
        const auto told = std::move(waiting->second);
        heard_.erase(waiting);
        for (const auto& [waiter, ticket] : told)
            above_.heard(waiter, r);
    }
    void search() { submit({.what = request::list, .settle = true}); }

    session& own() const { return zk_.sessions[number_]; }
    bool connected() const { return own().connected; }
    /// Whether its locks were not told that it is not connected.
    bool seems_connected() const { return connected() || losing_; }
    bool several_armed() const { return armed_.size() > 1; }
    std::size_t watches() const { return heard_.size(); }
    /// Whether the node is being swept.
    bool removing(const std::string& name) const { return removals.contains(name); }

    void see(shape& out) const {
        rules::state_of_rules::see(ids, out);
        out.add(tainted, removals.size(), alone_.size(), armed_.size(), heard_.size());
        for (const auto& [name, id] : removals)
            out.name(name), out.put(shape::node, id);
        for (const auto* const names : {&alone_, &armed_})
            for (const auto& one : *names)
                out.name(one);
        for (const auto& [name, waiting] : heard_) {
            out.name(name);
            out.add(waiting.size());
            for (const auto& [waiter, ticket] : waiting)
                out.add(waiter), out.put(shape::ticket, ticket, number_);
        }
    }

    rules::claims ids;
    bool tainted = false;
    std::map<std::string, node_id> removals;

    void submit(request what) {
        if (!connected()) return unsent_.push_back(std::move(what));
        constexpr const char* words[] = {"create", "list", "get",    "remove",      "make",
                                         "forget", "swap", "exists", "create both", "remove both"};
        note_("client", number_, "asks to", words[what.what], what.name, what.other);
        own().to_server.push_back(std::move(what));
    }
    /// Reads a node and watches it: the waiter gets the next event.
    void look(request what) {
        const auto& name = what.what == request::list ? the_directory : what.name;
        what.watch = true;
        what.ticket = heard_[name].try_emplace(what.waiter, ++tickets_).first->second;
        submit(std::move(what));
    }
    void forget(std::uint64_t waiter, const std::string& name) {
        const auto waiting = heard_.find(name);
        if (waiting == heard_.end() || waiting->second.erase(waiter) == 0) return;
        if (!waiting->second.empty()) return;
        heard_.erase(waiting);
        if (connected()) submit({.what = request::unwatch, .name = name});
    }
    void taint() {
        tainted = true;
        if (connected()) search();
    }
    void remove(const std::string& name, node_id id) {
        if (removals.emplace(name, id).second && connected()) send_remove(name, id);
    }
    /// Sweeps the marker of a simple lock, but not the lock's node.
    void remove_alone(const std::string& name, node_id id) {
        alone_.insert(name);
        removals.emplace(name, id);
        if (connected()) send_remove(name, id);
    }

private:
    void begin_session(int nth) {
        own() = {.id = nth * 16 + static_cast<std::int64_t>(number_)};
        ids.begin(own().id);
    }
    void answer_all(const std::vector<request>& these, outcome result) {
        for (const auto& one : these)
            take({.to = one, .result = result});
    }
    void take(const reply& r) {
        note_("client", number_, "is answered", static_cast<std::uint64_t>(r.result), r.to.name,
              r.name);
        const bool done = r.result == outcome::done;
        if (r.to.watch) {
            const auto& name = r.to.what == request::list ? the_directory : r.to.name;
            if (done)
                armed_.insert(name);
            else
                not_armed(r.to, name);
        }
        if (r.to.what == request::list) sweep_orphans(r.children);
        if (r.to.what == request::unwatch) armed_.erase(r.to.name);
        if (r.to.what == request::remove || r.to.what == request::remove_both) return removed(r);
        above_.answered(r);
    }
    void not_armed(const request& asked, const std::string& name) {
        const auto waiting = heard_.find(name);
        if (waiting == heard_.end()) return;
        const auto it = waiting->second.find(asked.waiter);
        if (it != waiting->second.end() && it->second == asked.ticket) waiting->second.erase(it);
        if (waiting->second.empty()) heard_.erase(waiting);
    }
    void sweep_orphans(const std::vector<std::string>& children) {
        for (const auto& orphan : rules::orphans(children, ids)) {
            must(!above_.in_use(orphan), "sweeps what is in use", orphan);
            remove(orphan, rules::own_id(orphan, ids).value());
        }
    }
    /// The marker of a simple lock is deleted together with the lock's node, unless that is gone.
    void send_remove(const std::string& name, node_id id) {
        const auto lock = alone_.contains(name) ? std::nullopt : rules::marked_lock(name);
        submit({.what = lock ? request::remove_both : request::remove,
                .name = name,
                .other = std::string(lock.value_or("")),
                .id = id});
    }
    void removed(const reply& r) {
        const auto& name = r.to.name;
        const bool missing = r.result == outcome::missing;
        if (missing && !r.name.empty() && r.name != name) return remove_alone(name, r.to.id);
        if (r.result != outcome::done && !missing) return; // the next connection repeats it
        removals.erase(name);
        alone_.erase(name);
        ids.release(r.to.id);
        above_.was_removed(number_, r.to.id);
    }

    const story& note_;
    std::size_t number_;
    ensemble& zk_;
    user& above_;
    bool losing_ = false;
    std::vector<request> unsent_; ///< submitted after the connection was lost
    std::set<std::string> alone_; ///< markers that are deleted without the lock's node
    std::uint64_t tickets_ = 0;
    std::map<std::string, std::map<std::uint64_t, std::uint64_t>> heard_; ///< waiters for events
    std::set<std::string> armed_; ///< watches that the C client knows of
};

} // namespace paddock::test::explore
