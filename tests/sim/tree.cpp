#include "sim/tree.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace paddock::test::sim {

using native::watch_type;

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

tree::tree() {
    nodes_.try_emplace("/");
    apply({change::create, "/zookeeper"}, 0, 0, nullptr);
}

/// A directory's children matter only to a step that deletes it: a part has no others.
tree tree::part_for(const std::vector<request>& steps) const {
    tree part;
    for (const auto& [id, session] : sessions_)
        part.sessions_[id].timeout = session.timeout;
    for (const auto& step : steps)
        if (const auto* const whole = find(step.path)) part.nodes_[step.path] = *whole;
    for (const auto& step : steps) {
        const auto above = parent_of(step.path);
        if (const auto* const parent = find(above)) {
            const auto [it, added] = part.nodes_.try_emplace(above);
            if (!added && above != "/") continue;
            it->second.data = parent->data;
            it->second.stat = parent->stat;
        }
    }
    return part;
}

const tree::node* tree::find(const std::string& path) const {
    const auto it = nodes_.find(path);
    return it == nodes_.end() ? nullptr : &it->second;
}

/// Clients see the number of creates and deletes.
node_stat tree::stat(const node& n) const {
    auto out = n.stat;
    out.num_children = static_cast<std::int32_t>(n.children.size());
    out.cversion = 2 * out.cversion - out.num_children;
    out.data_length = static_cast<std::int32_t>(n.data.size());
    return out;
}

void tree::apply(const txn& t, std::vector<sight>* seen, std::vector<node_stat>* stats) {
    zxid_ = t.zxid;
    switch (t.what) {
    case txn::open_session:
        sessions_[t.session].timeout = t.timeout;
        break;
    case txn::close_session:
        for (const auto& one : t.steps)
            apply(one, t.zxid, t.time, seen);
        sessions_.erase(t.session);
        break;
    case txn::changes:
        for (const auto& one : t.steps) {
            apply(one, t.zxid, t.time, seen);
            if (!stats) continue;
            const auto* const n = find(one.path);
            stats->push_back(n ? stat(*n) : node_stat());
        }
        break;
    case txn::error:
        break;
    }
}

void tree::apply(const change& c, std::int64_t zxid, std::int64_t time, std::vector<sight>* seen) {
    switch (c.what) {
    case change::create:
        return create(c, zxid, time, seen);
    case change::remove:
        return remove(c.path, zxid, seen);
    case change::set: {
        auto& n = nodes_.at(c.path);
        n.data = c.data;
        n.stat.mzxid = zxid;
        n.stat.mtime = time;
        ++n.stat.version;
        if (seen) seen->push_back({watch_type::changed, c.path});
        return;
    }
    case change::nothing:
        return;
    }
}

void tree::create(const change& c, std::int64_t zxid, std::int64_t time, std::vector<sight>* seen) {
    const auto above = parent_of(c.path);
    auto& parent = nodes_.at(above);
    parent.children.insert(c.path.substr(above.size() == 1 ? 1 : above.size() + 1));
    ++parent.stat.cversion;
    parent.stat.pzxid = zxid;
    auto& made = nodes_[c.path];
    made.data = c.data;
    made.container = c.container;
    made.stat.czxid = made.stat.mzxid = made.stat.pzxid = zxid;
    made.stat.ctime = made.stat.mtime = time;
    made.stat.ephemeral_owner = c.owner;
    if (c.owner != 0) sessions_.at(c.owner).nodes.insert(c.path);
    if (!seen) return;
    seen->push_back({watch_type::created, c.path});
    seen->push_back({watch_type::child, above});
}

void tree::remove(const std::string& path, std::int64_t zxid, std::vector<sight>* seen) {
    const auto it = nodes_.find(path);
    if (it == nodes_.end()) return;
    const auto above = parent_of(path);
    auto& parent = nodes_.at(above);
    parent.children.erase(path.substr(above.size() == 1 ? 1 : above.size() + 1));
    parent.stat.pzxid = zxid;
    const auto owner = sessions_.find(it->second.stat.ephemeral_owner);
    if (owner != sessions_.end()) owner->second.nodes.erase(path);
    nodes_.erase(it);
    if (!seen) return;
    seen->push_back({watch_type::deleted, path});
    seen->push_back({watch_type::child, above});
}

namespace {

int create_fault(const tree& t, const std::string& path, const tree::node* parent) {
    if (!parent) return code::no_node;
    if (t.exists(path)) return code::node_exists;
    return parent->stat.ephemeral_owner != 0 ? code::no_children_for_ephemerals : code::ok;
}

/// The code, and the change if there is one.
int decide_one(const tree& t, const request& r, std::int64_t session, std::vector<change>& out) {
    if (r.what == verb::create) {
        auto path = r.path;
        const auto* const parent = t.find(parent_of(path));
        if (parent && (r.mode == create_mode::ephemeral_sequential ||
                       r.mode == create_mode::persistent_sequential)) {
            std::array<char, 16> digits{};
            std::snprintf(digits.data(), digits.size(), "%010d", parent->stat.cversion);
            path += digits.data();
        }
        const bool ephemeral =
            r.mode == create_mode::ephemeral || r.mode == create_mode::ephemeral_sequential;
        const int fault = create_fault(t, path, parent);
        if (fault == code::ok)
            out.push_back({change::create, path, r.data, ephemeral ? session : 0,
                           r.mode == create_mode::container});
        return fault;
    }
    const auto* const node = t.find(r.path);
    if (!node) return code::no_node;
    if (r.version != any_version && r.version != node->stat.version) return code::bad_version;
    if (r.what == verb::remove && !node->children.empty()) return code::not_empty;
    if (r.what == verb::remove) out.push_back({change::remove, r.path});
    if (r.what == verb::set) out.push_back({change::set, r.path, r.data});
    return code::ok;
}

void refuse(txn& t, int rc, int step) {
    t.what = txn::error;
    t.rc = rc;
    t.refused_step = step;
    t.steps.clear();
}

} // namespace

txn decide(const tree& so_far, const request& r, std::int64_t session) {
    txn t;
    t.session = session;
    if (r.what == verb::close) {
        t.what = txn::close_session;
        const auto& own = so_far.sessions().at(session).nodes;
        for (const auto& path : own)
            t.steps.push_back({change::remove, path});
        return t;
    }
    if (r.what != verb::multi) {
        if (const int rc = decide_one(so_far, r, session, t.steps); rc != code::ok)
            refuse(t, rc, -1);
        return t;
    }
    t.multi = true;
    tree after = so_far.part_for(r.steps); // each step sees the changes of those before it
    for (std::size_t n = 0; n < r.steps.size(); ++n) {
        const auto before = t.steps.size();
        if (const int rc = decide_one(after, r.steps[n], session, t.steps); rc != code::ok) {
            refuse(t, rc, static_cast<int>(n));
            break;
        }
        if (t.steps.size() > before)
            after.apply(t.steps.back(), 0, 0, nullptr);
        else
            t.steps.push_back({change::nothing, {}});
    }
    return t;
}

} // namespace paddock::test::sim
