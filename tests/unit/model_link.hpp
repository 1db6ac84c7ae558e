#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "unit/model_ensemble.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::model {

using rules::node_id;

/// What a client of a history has of the network: its session and connection, requests and their
/// answers, watches, the deletes that must happen, and the searches of a tainted directory. Who
/// waits for something is a key.
class link {
public:
    using waiter = std::uint64_t;

    link(ensemble& zk, const std::function<void(const std::string&)>& note, int number)
        : zk_(zk), note_(note), number_(number) {}
    virtual ~link() = default;

    void connect(int server, bool backwards) {
        if (!own.alive) {
            note("learns that its session is over");
            removals.clear();
            retry.clear();
            tainted = false;
            armed_.clear();
            heard_.clear();
            own.id = 0;
            on_expired();
        }
        if (own.id == 0) {
            own = {};
            own.id = ++sessions_ * 16 + number_;
            ids.begin(own.id);
        }
        note("connects to server " + std::to_string(server));
        zk_.connect(own, server);
        std::vector<std::string> names(armed_.begin(), armed_.end());
        if (backwards) std::reverse(names.begin(), names.end());
        zk_.set_watches(own, names);
        connected = true;
        for (const auto& [name, id] : removals)
            send_remove(name, id);
        if (tainted) search();
        on_connected();
    }
    /// `lost_first`: whether the lost answers come before the news of the lost connection.
    void break_connection(bool lost_first) {
        note("loses its connection");
        zk_.disconnect(own);
        connected = false;
        const auto lost = std::exchange(awaited_, {});
        const auto answer_all = [](const std::deque<answer>& these, outcome result) {
            for (const auto& one : these)
                one({.result = result});
        };
        if (lost_first) answer_all(lost, outcome::lost);
        on_disconnected();
        if (!lost_first) answer_all(lost, outcome::lost);
        answer_all(std::exchange(unsent_, {}), outcome::not_sent);
        retry.clear();
    }
    void execute() {
        const auto name = zk_.execute(own);
        if (name.empty()) return;
        note("has " + name);
        if (const auto id = rules::own_id(name, ids)) was_created(name, *id);
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
            note("is answered " + std::to_string(static_cast<int>(r.result)));
            return next(r);
        }
        note("hears of " + r.name);
        armed_.erase(r.name);
        const auto waiting = heard_.find(r.name);
        if (waiting == heard_.end()) return;
        const auto told = std::move(waiting->second);
        heard_.erase(waiting);
        for (const auto& [who, ticket] : told)
            heard(who, r);
    }
    /// Whether there was something to do again.
    bool retry_removals() {
        if (!connected || retry.empty()) return false;
        for (const auto& [name, id] : std::exchange(retry, {}))
            send_remove(name, id);
        return true;
    }
    void search() {
        list(true, false, [](const reply&) {});
    }

    std::size_t watches() const { return heard_.size(); }
    bool quiet() const { return own.to_server.empty() && own.to_client.empty(); }

    session own;
    rules::claims ids;
    bool connected = false;
    bool tainted = false;
    std::map<std::string, node_id> removals;
    std::map<std::string, node_id> retry;

protected:
    using answer = std::function<void(const reply&)>;

    virtual void on_connected() = 0;
    virtual void on_disconnected() = 0;
    virtual void on_expired() = 0;
    virtual void was_created(const std::string& name, node_id id) = 0;
    virtual void was_removed(node_id) {}
    virtual void heard(waiter who, const reply& event) = 0;
    /// Whether somebody holds something with this node.
    virtual bool in_use(const std::string& name) const = 0;

    void note(const std::string& what) const {
        if (note_) note_("client " + std::to_string(number_) + ' ' + what);
    }

    void submit(request what, answer done) {
        if (!connected) return unsent_.push_back(std::move(done));
        constexpr const char* words[] = {"create", "list",        "get",        "remove",
                                         "wait",   "make",        "unwatch",    "swap",
                                         "see",    "create with", "remove with"};
        note(std::string("asks to ") + words[what.what] + ' ' + what.name + ' ' + what.other);
        own.to_server.push_back(std::move(what));
        awaited_.push_back(std::move(done));
    }

    /// With a barrier that fails, the listing is worth nothing.
    void list(bool settle, bool watch, answer done) {
        const auto fault = std::make_shared<outcome>(outcome::done);
        if (settle)
            submit({.what = request::barrier, .name = {}},
                   [fault](const reply& r) { *fault = r.result; });
        submit({.what = request::list, .name = {}, .watch = watch}, [this, fault, done](reply r) {
            if (*fault != outcome::done) r.result = *fault;
            for (const auto& orphan : rules::orphans(r.children, ids)) {
                must(!in_use(orphan), "sweeps what somebody holds: " + orphan);
                remove(orphan, rules::own_id(orphan, ids).value());
            }
            done(r);
        });
    }

    /// Reads something by `ask(answer)`; `who` hears of its next change.
    template <typename Ask>
    void look(waiter who, const std::string& name, Ask ask, answer done) {
        const auto ticket = heard_[name].try_emplace(who, ++tickets_).first->second;
        ask([this, who, name, ticket, done](const reply& r) {
            if (r.result == outcome::done)
                armed_.insert(name);
            else
                not_armed(who, name, ticket);
            done(r);
        });
    }
    void look(waiter who, const std::string& name, answer done) {
        const auto get = [&](answer then) {
            submit({.what = request::get, .name = name}, std::move(then));
        };
        look(who, name, get, std::move(done));
    }
    /// It does not want to hear of anything any more.
    void forget(waiter who) {
        for (auto it = heard_.begin(); it != heard_.end();) {
            const auto here = it++;
            if (here->second.erase(who) == 0 || !here->second.empty()) continue;
            const auto name = here->first;
            heard_.erase(here);
            if (!connected) continue;
            submit({.what = request::unwatch, .name = name},
                   [this, name](const reply&) { armed_.erase(name); });
        }
    }

    void remove(const std::string& name, node_id id) {
        if (removals.emplace(name, id).second && connected) send_remove(name, id);
    }
    void remove_alone(const std::string& name, node_id id) {
        alone_.insert(name);
        removals.emplace(name, id);
        if (connected) send_remove(name, id);
    }

private:
    void not_armed(waiter who, const std::string& name, int ticket) {
        const auto waiting = heard_.find(name);
        if (waiting == heard_.end()) return;
        const auto it = waiting->second.find(who);
        if (it != waiting->second.end() && it->second == ticket) waiting->second.erase(it);
        if (waiting->second.empty()) heard_.erase(waiting);
    }
    /// With the marker of a simple lock goes the lock's node, unless that was deleted by hand.
    void send_remove(const std::string& name, node_id id) {
        request what{.what = request::remove, .name = name};
        const auto with = rules::marked_lock(name);
        if (with && !alone_.contains(name))
            what = {.what = request::remove_both, .name = name, .other = std::string(*with)};
        submit(std::move(what), [this, name, id](const reply& r) {
            if (r.result == outcome::later) retry.emplace(name, id);
            if (r.result == outcome::missing && !r.name.empty() && r.name != name)
                return remove_alone(name, id);
            if (r.result != outcome::done && r.result != outcome::missing) return;
            removals.erase(name);
            ids.release(id);
            was_removed(id);
        });
    }

    ensemble& zk_;
    const std::function<void(const std::string&)>& note_;
    int number_;
    std::int64_t sessions_ = 0;
    std::deque<answer> awaited_;
    std::deque<answer> unsent_;   ///< what was asked of a connection that was lost already
    std::set<std::string> alone_; ///< markers that are removed without the lock's node
    int tickets_ = 0;
    std::map<std::string, std::map<waiter, int>> heard_; ///< who waits for an event
    std::set<std::string> armed_;                        ///< that the C client knows of
};

} // namespace paddock::test::model
