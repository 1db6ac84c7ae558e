#pragma once

#include "rules/outcome.hpp"

#include <paddock/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// A plain model of an ensemble with one directory: a leader that decides, and servers that follow
// later. A session's requests are executed in their order, and are answered in that order.
namespace paddock::test::model {

using rules::outcome;

/// Something happened that must not happen.
struct violation : std::runtime_error {
    using runtime_error::runtime_error;
};

inline void must(bool condition, const std::string& what) {
    if (!condition) throw violation(what);
}

struct request {
    enum kind {
        create,
        list,
        get,
        remove,
        barrier,
        make,
        unwatch,
        swap,
        exists, ///< as get, without a watch
        create_both,
        remove_both
    } what;
    std::string name;       ///< of a create: without its sequence number
    std::string other = {}; ///< of a swap: the node that goes; of both: the second
    bool watch = false;     ///< of a list; a get always sets one
};

struct reply {
    outcome result = outcome::done;
    std::string name{}; ///< of an event, or of what was created
    std::int64_t czxid = 0;
    std::vector<std::string> children{};
    std::int64_t zxid = 0; ///< how far the server was
    enum kind { answer, deleted, changed, child } what = answer;
    std::int32_t value = 0; ///< of the counter
    std::string data{};
    std::int64_t owner = 0;
    int code = 0; ///< of the ensemble; only where the rules look at it
};

struct session {
    std::int64_t id = 0;
    bool alive = true;
    int server = -1;        ///< that it is connected to
    std::int64_t seen = 0;  ///< in the header of an answer: a server that is behind is refused
    std::int64_t heard = 0; ///< by anything that came on this connection
    std::set<std::string> watches{}; ///< of this connection, on the server
    std::deque<request> to_server{};
    std::deque<reply> to_client{};
};

struct znode {
    std::int64_t owner;
    std::int64_t czxid;
    std::int64_t mzxid;
    std::string data{}; ///< of two that were made together: the first one's name
};

/// Names that are none of a node in the directory: the directory itself, for watches on its
/// children, and a counter that is somewhere else.
inline const std::string the_directory = ".";
inline const std::string the_counter = "#";

struct tree {
    bool directory = false;
    std::map<std::string, znode> nodes;
    std::int64_t children_zxid = 0; ///< of the last change of the directory's children
    std::int32_t counter = 0;
    std::int64_t counter_zxid = 0;
};

class ensemble {
public:
    static constexpr int servers = 2;

    const tree& leader() const { return leader_; }
    bool exists(const std::string& name) const { return leader_.nodes.contains(name); }
    std::int64_t czxid(const std::string& name) const { return leader_.nodes.at(name).czxid; }
    /// When the node was deleted; 0 if it was not.
    std::int64_t end_of(const std::string& name) const {
        const auto it = ends_.find(name);
        return it == ends_.end() ? 0 : it->second;
    }

    // At the leader.
    std::string create(std::int64_t owner, const std::string& prefix) {
        std::array<char, 16> digits{};
        std::snprintf(digits.data(), digits.size(), "%010d", next_++);
        auto name = prefix + digits.data();
        commit({txn::create, name, owner});
        return name;
    }
    /// A node that is no sequential one.
    void create_as(std::int64_t owner, const std::string& name) {
        commit({txn::create, name, owner});
    }
    void remove(const std::string& name) { commit({txn::remove, name, 0}); }
    /// All or nothing: what the ensemble answers.
    reply create_both(std::int64_t owner, const std::string& first, const std::string& second) {
        reply out;
        if (!leader_.directory)
            out = {.result = outcome::missing, .code = static_cast<int>(zk_errc::no_node)};
        else if (exists(second))
            out = {.result = outcome::refused, .code = static_cast<int>(zk_errc::node_exists)};
        commit({out.code == 0 ? txn::create : txn::nothing, first, owner, first});
        if (out.code == 0) commit({txn::create, second, owner, first});
        return out;
    }
    reply remove_both(const std::string& first, const std::string& second) {
        reply out;
        if (!exists(first))
            out = {.result = outcome::missing, .name = first};
        else if (!exists(second))
            out = {.result = outcome::missing, .name = second};
        const bool done = out.result == outcome::done;
        commit({done ? txn::remove : txn::nothing, first, 0});
        if (done) commit({txn::remove, second, 0});
        return out;
    }
    void set(const std::string& name) { commit({txn::set, name, 0}); }
    void close(session& s) {
        s.alive = false;
        commit({txn::close, {}, s.id});
    }
    void make() {
        if (!leader_.directory) next_ = 0;
        commit({txn::make, {}, 0});
    }
    void reap() {
        if (leader_.nodes.empty()) commit({txn::reap, {}, 0});
    }
    void count(std::int32_t value) { commit({txn::count, {}, value}); }
    /// The greatest value of the counter since then.
    std::int32_t greatest_count(std::int64_t since) const {
        auto greatest = leader_.counter;
        for (auto zxid = last(); zxid > 0; --zxid) {
            const auto& t = log_[static_cast<std::size_t>(zxid - 1)];
            if (t.what != txn::count) continue;
            greatest = std::max(greatest, static_cast<std::int32_t>(t.owner));
            if (zxid <= since) break; // what it was then
        }
        return greatest;
    }

    // At a server.
    void connect(session& s, int server) {
        s.server = server;
        s.heard = 0;
        sessions_.insert(&s);
        catch_up(server, s.seen);
    }
    void disconnect(session& s) {
        s.server = -1;
        s.watches.clear();
        s.to_server.clear();
        s.to_client.clear();
        sessions_.erase(&s);
    }
    /// The C client's SetWatches: tells of what has changed, in any order.
    void set_watches(session& s, const std::vector<std::string>& names) {
        const auto& view = views_[index(s.server)];
        for (const auto& name : names) {
            const auto it = view.nodes.find(name);
            const bool counter = name == the_counter;
            if (counter || name == the_directory) {
                if ((counter ? view.counter_zxid : view.children_zxid) <= s.seen)
                    s.watches.insert(name);
                else
                    tell(s, {.name = name,
                             .zxid = applied(s),
                             .what = counter ? reply::changed : reply::child});
            } else if (it == view.nodes.end())
                tell(s, {.name = name, .zxid = applied(s), .what = reply::deleted});
            else if (it->second.mzxid > s.seen)
                tell(s, {.name = name, .zxid = applied(s), .what = reply::changed});
            else
                s.watches.insert(name);
        }
    }
    bool behind(int server) const { return applied_[index(server)] < log_.size(); }
    void apply_one(int server) {
        if (behind(server)) apply(server, log_[applied_[index(server)]]);
    }

    /// The next request of a session. Returns the name of the node that it created, if any.
    std::string execute(session& s) {
        const auto r = std::move(s.to_server.front());
        s.to_server.pop_front();
        reply out;
        switch (r.what) {
        case request::create:
            if (leader_.directory) {
                out.name = create(s.id, r.name);
                out.czxid = static_cast<std::int64_t>(log_.size());
            } else {
                out.result = outcome::missing;
                commit({txn::nothing, {}, 0});
            }
            catch_up(s.server, last());
            break;
        case request::remove:
            commit({exists(r.name) ? txn::remove : txn::nothing, r.name, 0});
            catch_up(s.server, last());
            break;
        case request::barrier:
            commit({txn::nothing, {}, 0});
            catch_up(s.server, last());
            break;
        case request::make:
            make();
            catch_up(s.server, last());
            break;
        case request::list:
            list(s, r.watch, out);
            break;
        case request::get:
            get(s, r.name, out);
            break;
        case request::exists:
            see(s, r.name, out);
            break;
        case request::create_both:
            out = create_both(s.id, r.name, r.other);
            catch_up(s.server, last());
            break;
        case request::remove_both:
            out = remove_both(r.name, r.other);
            catch_up(s.server, last());
            break;
        case request::unwatch:
            s.watches.erase(r.name);
            break;
        case request::swap: // if it was executed before, that is as good
            if (!exists(r.name) && exists(r.other)) {
                commit({txn::create, r.name, s.id});
                commit({txn::remove, r.other, 0});
            } else if (!exists(r.name)) {
                out.result = outcome::missing;
            }
            catch_up(s.server, last());
            break;
        }
        out.zxid = applied(s);
        tell(s, out);
        return out.what == reply::answer && r.what == request::create ? out.name : std::string();
    }
    /// The server throttles: the next request is not executed.
    void throttle(session& s) {
        s.to_server.pop_front();
        tell(s, {.result = outcome::later, .zxid = applied(s)});
    }

private:
    struct txn {
        enum kind { nothing, create, remove, set, close, make, reap, count } what;
        std::string name;
        std::int64_t owner; ///< of a count: the value
        std::string data{};
    };

    static std::size_t index(int server) { return static_cast<std::size_t>(server); }
    std::int64_t last() const { return static_cast<std::int64_t>(log_.size()); }
    std::int64_t applied(const session& s) const {
        return static_cast<std::int64_t>(applied_[index(s.server)]);
    }
    static void tell(session& s, reply r) { s.to_client.push_back(std::move(r)); }

    void commit(txn t) {
        log_.push_back(std::move(t));
        change(leader_, log_.back(), last(),
               [&](const std::string& name) { ends_[name] = last(); });
    }
    void catch_up(int server, std::int64_t zxid) {
        while (static_cast<std::int64_t>(applied_[index(server)]) < zxid)
            apply_one(server);
    }
    void apply(int server, const txn& t) {
        const auto zxid = static_cast<std::int64_t>(++applied_[index(server)]);
        auto& view = views_[index(server)];
        if (t.what == txn::set) fire(server, t.name, zxid, reply::changed);
        if (t.what == txn::count) fire(server, the_counter, zxid, reply::changed);
        change(view, t, zxid,
               [&](const std::string& name) { fire(server, name, zxid, reply::deleted); });
        if (view.children_zxid == zxid) fire(server, the_directory, zxid, reply::child);
    }
    void fire(int server, const std::string& name, std::int64_t zxid, reply::kind what) {
        for (auto* const s : sessions_)
            if (s->server == server && s->watches.erase(name) > 0)
                tell(*s, {.name = name, .zxid = zxid, .what = what});
    }

    template <typename Gone>
    static void change(tree& where, const txn& t, std::int64_t zxid, Gone gone) {
        switch (t.what) {
        case txn::nothing:
            break;
        case txn::create:
            where.nodes.emplace(t.name, znode{t.owner, zxid, zxid, t.data});
            where.children_zxid = zxid;
            break;
        case txn::remove:
            if (where.nodes.erase(t.name) == 0) break;
            where.children_zxid = zxid;
            gone(t.name);
            break;
        case txn::set:
            if (const auto it = where.nodes.find(t.name); it != where.nodes.end())
                it->second.mzxid = zxid, it->second.data.clear();
            break;
        case txn::close:
            for (auto it = where.nodes.begin(); it != where.nodes.end();) {
                const auto here = it++;
                if (here->second.owner != t.owner) continue;
                where.children_zxid = zxid;
                gone(here->first);
                where.nodes.erase(here);
            }
            break;
        case txn::make:
            where.directory = true;
            break;
        case txn::reap:
            where.directory = false;
            where.children_zxid = zxid;
            break;
        case txn::count:
            where.counter = static_cast<std::int32_t>(t.owner);
            where.counter_zxid = zxid;
            break;
        }
    }

    void list(session& s, bool watch, reply& out) const {
        const auto& view = views_[index(s.server)];
        if (!view.directory) out.result = outcome::missing;
        if (watch && view.directory) s.watches.insert(the_directory);
        for (const auto& [name, node] : view.nodes)
            out.children.push_back(name);
    }
    void get(session& s, const std::string& name, reply& out) const {
        const auto& view = views_[index(s.server)];
        if (name == the_counter)
            out.value = view.counter;
        else
            see(s, name, out);
        if (out.result == outcome::done) s.watches.insert(name);
    }
    void see(const session& s, const std::string& name, reply& out) const {
        const auto& view = views_[index(s.server)];
        const auto it = view.nodes.find(name);
        if (it == view.nodes.end()) {
            out.result = outcome::missing;
        } else {
            out.czxid = it->second.czxid;
            out.data = it->second.data;
            out.owner = it->second.owner;
        }
    }

    std::int32_t next_ = 0;
    tree leader_;
    std::array<tree, servers> views_;
    std::array<std::size_t, servers> applied_{};
    std::vector<txn> log_;
    std::map<std::string, std::int64_t> ends_;
    std::set<session*> sessions_;
};

} // namespace paddock::test::model
