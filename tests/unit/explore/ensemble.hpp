#pragma once

#include "unit/explore/messages.hpp"

#include <paddock/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// A plain model of an ensemble with one directory. Each session's server learns the committed
// transactions at once, or one by one. A session's requests are executed and answered in order.
namespace paddock::test::explore {

constexpr std::size_t most_clients = 3;
constexpr auto never = std::numeric_limits<std::int64_t>::max();

struct znode {
    std::string name;
    std::int64_t owner;
    std::int64_t born, died = never, touched = 0; ///< zxid of its create, delete, last write
    std::string data{};                           ///< as created; lost with the first write
};

class ensemble {
public:
    std::array<session, most_clients> sessions;
    bool lags = false; ///< servers learn transactions one by one
    std::int32_t counter = 0;
    std::int64_t kicked_at = never; ///< zxid of an administrator's delete

    const znode* find(const std::string& name, std::int64_t at) const {
        for (const auto& one : nodes_)
            if (one.born <= at && at < one.died && one.name == name) return &one;
        return nullptr;
    }
    const znode* find(const std::string& name) const { return find(name, last_); }
    std::vector<const znode*> living() const {
        std::vector<const znode*> out;
        for (const auto& one : nodes_)
            if (one.died == never) out.push_back(&one);
        return out;
    }

    // Transactions.
    std::string create(std::int64_t owner, const std::string& prefix) {
        std::array<char, 16> digits{};
        std::snprintf(digits.data(), digits.size(), "%010d", next_++);
        auto name = prefix + digits.data();
        create_as(owner, name);
        return name;
    }
    void create_as(std::int64_t owner, const std::string& name, const std::string& data = {}) {
        nodes_.push_back({name, owner, last_ + 1, never, 0, data});
        children_ = last_ + 1;
        commit();
    }
    void remove(const std::string& name) {
        if (!kill(name)) return;
        children_ = last_ + 1;
        commit();
    }
    void touch(const std::string& name) {
        for (auto& one : nodes_)
            if (one.died == never && one.name == name) one.touched = last_ + 1;
        commit();
    }
    /// The next transaction is a delete that the owner of the node does not expect.
    void kick_next() { kicked_at = last_ + 1; }
    void count(std::int32_t value) {
        counter_before_ = std::exchange(counter, value);
        counted_ = last_ + 1;
        commit();
    }
    void make_directory() {
        if (made_ != never) return;
        made_ = last_ + 1;
        commit();
    }
    void close(session& s) {
        bool any = false;
        for (const auto* const one : living())
            if (one->owner == s.id) any = kill(one->name);
        s = {};
        if (!any) return;
        children_ = last_ + 1;
        commit();
    }
    /// Multis: all or nothing. They return the answer.
    reply create_both(std::int64_t owner, const std::string& first, const std::string& second) {
        if (made_ == never)
            return {.result = outcome::missing, .code = static_cast<int>(zk_errc::no_node)};
        if (find(second))
            return {.result = outcome::refused, .code = static_cast<int>(zk_errc::node_exists)};
        nodes_.push_back({first, owner, last_ + 1, never, 0, first});
        create_as(owner, second, first);
        return {};
    }
    reply remove_both(const std::string& first, const std::string& second) {
        for (const auto& one : {first, second})
            if (!find(one)) return {.result = outcome::missing, .name = one};
        kill(first);
        remove(second);
        return {};
    }

    // At a session's server.
    void connect(session& s) {
        s.connected = true;
        s.heard = 0;
        if (!lags || s.applied == 0) s.applied = last_;
    }
    void disconnect(session& s) {
        s.connected = false;
        s.watches.clear();
        s.to_server.clear();
        s.to_client.clear();
    }
    bool behind(const session& s) const { return s.connected && s.applied < last_; }
    void learn(session& s) {
        const auto now = ++s.applied;
        for (const auto& one : nodes_) {
            if (one.born == now || one.died == now) fire(s, the_directory, reply::child);
            if (one.died == now) fire(s, one.name, reply::deleted);
            if (one.touched == now && now < one.died) fire(s, one.name, reply::changed);
        }
        if (counted_ == now) fire(s, the_counter, reply::changed);
        forget();
    }
    /// The C client's SetWatches: sends an event for each node that has changed.
    void set_watches(session& s, const std::vector<std::string>& names) {
        for (const auto& name : names) {
            const auto* const node = find(name, s.applied);
            if (name == the_counter && counted_ > s.seen)
                tell(s, reply::changed, name);
            else if (name == the_directory && children_ > s.seen)
                tell(s, reply::child, name);
            else if (name == the_counter || name == the_directory)
                s.watches.insert(name);
            else if (!node)
                tell(s, reply::deleted, name);
            else if (std::max(node->born, node->touched) > s.seen)
                tell(s, reply::changed, name);
            else
                s.watches.insert(name);
        }
    }
    /// Executes the next request of a session, and returns the answer.
    const reply& execute(session& s) {
        const auto r = s.to_server.front();
        s.to_server.erase(s.to_server.begin());
        if (r.settle) catch_up(s);
        const bool reads =
            r.what == request::list || r.what == request::get || r.what == request::exists;
        auto out = reads ? read(s, r) : write(s.id, r);
        if (r.what == request::unwatch)
            s.watches.erase(r.name);
        else if (!reads)
            catch_up(s);
        out.to = r;
        out.zxid = s.applied;
        s.to_client.push_back(std::move(out));
        return s.to_client.back();
    }
    /// A write of any client.
    reply write(std::int64_t owner, const request& r) {
        reply out;
        if (r.what == request::create && made_ == never) {
            out.result = outcome::missing;
        } else if (r.what == request::create) {
            out.name = create(owner, r.name);
            out.czxid = last_;
        } else if (r.what == request::remove) {
            remove(r.name);
        } else if (r.what == request::make) {
            make_directory();
        } else if (r.what == request::create_both) {
            out = create_both(owner, r.name, r.other);
        } else if (r.what == request::remove_both) {
            out = remove_both(r.name, r.other);
        } else if (r.what == request::swap && !find(r.name)) { // else it was executed before
            if (!find(r.other)) return {.result = outcome::missing};
            kill(r.other);
            create_as(owner, r.name);
        }
        return out;
    }

    void see(shape& out, bool may_lose) const;

private:
    void commit() {
        ++last_;
        if (lags) return;
        for (auto& s : sessions)
            if (s.connected) catch_up(s);
        forget();
    }
    void catch_up(session& s) {
        while (s.applied < last_)
            learn(s);
    }
    bool kill(const std::string& name) {
        for (auto& one : nodes_)
            if (one.died == never && one.name == name) {
                one.died = last_ + 1;
                return true;
            }
        return false;
    }
    /// Drops the deleted nodes that no server has any more.
    void forget() {
        auto oldest = last_;
        for (const auto& s : sessions)
            if (s.connected || (lags && s.id != 0)) oldest = std::min(oldest, s.applied);
        std::erase_if(nodes_, [&](const znode& one) { return one.died <= oldest; });
    }
    static void tell(session& s, reply::kind what, const std::string& name) {
        s.to_client.push_back(
            {.what = what, .to = {.what = request::get, .name = name}, .zxid = s.applied});
    }
    static void fire(session& s, const std::string& name, reply::kind what) {
        if (s.watches.erase(name) > 0) tell(s, what, name);
    }
    reply read(session& s, const request& r) const {
        reply out;
        if (r.what == request::list) {
            if (made_ > s.applied) return {.result = outcome::missing};
            if (r.watch) s.watches.insert(the_directory);
            for (const auto& one : nodes_)
                if (one.born <= s.applied && s.applied < one.died) out.children.push_back(one.name);
            return out;
        }
        if (r.name == the_counter) {
            out.value = s.applied < counted_ ? counter_before_ : counter;
        } else if (const auto* const node = find(r.name, s.applied)) {
            out.czxid = node->born;
            if (node->touched == 0 || node->touched > s.applied) out.data = node->data;
            out.owner = node->owner;
        } else {
            return {.result = outcome::missing};
        }
        if (r.what == request::get) s.watches.insert(r.name);
        return out;
    }

    std::int64_t last_ = 0; ///< zxid
    std::int32_t next_ = 0; ///< sequence number
    std::int32_t counter_before_ = 0;
    std::int64_t made_ = never, children_ = 0, counted_ = 0;
    std::vector<znode> nodes_; ///< in the order of their creation
};

/// The zxid that a session has seen matters only to its next connection.
inline void ensemble::see(shape& out, bool may_lose) const {
    out.add(counter, counter_before_, made_ != never, nodes_.size());
    for (const auto& one : nodes_) {
        out.name(one.name);
        out.name(one.data);
        out.add(one.owner, one.died == never, one.touched == 0);
        for (const auto at : {one.born, one.died, one.touched})
            out.put(shape::zxid, at == never ? 0 : at);
    }
    for (const auto at : {last_, made_, children_, counted_})
        if (may_lose || lags) out.put(shape::zxid, at == never ? 0 : at);
    for (std::size_t client = 0; client < most_clients; ++client) {
        const auto& s = sessions[client];
        out.add(s.id, s.connected, s.watches.size(), s.to_server.size(), s.to_client.size());
        if (may_lose) out.put(shape::zxid, s.seen);
        out.add(s.heard >= kicked_at);
        if (lags) out.put(shape::zxid, s.applied);
        for (const auto& one : s.watches)
            out.name(one);
        for (const auto& one : s.to_server)
            explore::see(one, client, out);
        for (const auto& one : s.to_client)
            explore::see(one, client, out), out.add(one.zxid >= kicked_at),
                out.put(shape::zxid, may_lose ? one.zxid : 0);
    }
}

} // namespace paddock::test::explore
