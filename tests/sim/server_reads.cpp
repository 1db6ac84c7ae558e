// Answers from a server's own view: reads, and the watches that come with them.
#include "sim/server.hpp"

namespace paddock::test::sim {

packet server::read(connection& c, const request& r) {
    packet out{.zxid = view_.zxid()};
    const auto* const n = r.path.empty() ? nullptr : view_.find(r.path);
    const auto missing = [&] {
        out.rc = code::no_node;
        return out;
    };
    switch (r.what) {
    case verb::get:
        if (!n) return missing();
        out.value = n->data;
        out.stat = view_.stat(*n);
        if (r.watch) c.data_watches.insert(r.path);
        return out;
    case verb::exists:
        if (r.watch) c.data_watches.insert(r.path);
        if (!n) return missing();
        out.stat = view_.stat(*n);
        return out;
    case verb::children:
        if (!n) return missing();
        out.names.assign(n->children.begin(), n->children.end());
        out.stat = view_.stat(*n);
        if (r.watch) c.child_watches.insert(r.path);
        return out;
    case verb::get_acl:
        if (!n) return missing();
        out.stat = view_.stat(*n);
        return out;
    case verb::remove_watches: {
        const bool data = c.data_watches.erase(r.path) > 0;
        const bool child = c.child_watches.erase(r.path) > 0;
        if (!data && !child) out.rc = code::no_watcher;
        return out;
    }
    case verb::set_watches:
        set_watches(c, r);
        return out;
    case verb::sync: // at the leader
        out.value = r.path;
        return out;
    default:
        return out;
    }
}

/// In the order of the tables, not of the events.
void server::set_watches(connection& c, const request& r) {
    const auto tell = [&](native::watch_type type, const std::string& path) {
        c.peer->push({.what = packet::event, .truth = view_.zxid(), .value = path, .type = type});
    };
    for (const auto& path : r.data_watches) {
        const auto* const n = view_.find(path);
        if (!n)
            tell(native::watch_type::deleted, path);
        else if (n->stat.mzxid > r.seen)
            tell(native::watch_type::changed, path);
        else
            c.data_watches.insert(path);
    }
    for (const auto& path : r.exist_watches) {
        if (view_.exists(path))
            tell(native::watch_type::created, path);
        else
            c.data_watches.insert(path);
    }
    for (const auto& path : r.child_watches) {
        const auto* const n = view_.find(path);
        if (!n)
            tell(native::watch_type::deleted, path);
        else if (n->stat.pzxid > r.seen)
            tell(native::watch_type::child, path);
        else
            c.child_watches.insert(path);
    }
}

} // namespace paddock::test::sim
