#pragma once

#include "sim/messages.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test::sim {

/// The part of a change that a watch can see.
struct sight {
    native::watch_type type;
    std::string path;
};

/// The ensemble's state: nodes, and living sessions.
class tree {
public:
    struct node {
        std::string data{};
        node_stat stat{}; ///< cversion counts the creates below it, as the servers keep it
        std::set<std::string> children{};
        bool container = false;
    };

    tree();

    /// Executes a decided change; appends its visible parts, in the servers' order, and the stat of
    /// each step's node, as it is after that step.
    void apply(const txn& t, std::vector<sight>* seen = nullptr,
               std::vector<node_stat>* stats = nullptr);
    void apply(const change& c, std::int64_t zxid, std::int64_t time, std::vector<sight>* seen);

    /// The part that decides these steps, and that they change.
    tree part_for(const std::vector<request>& steps) const;

    const node* find(const std::string& path) const;
    bool exists(const std::string& path) const { return nodes_.contains(path); }
    /// As a server answers it.
    node_stat stat(const node& n) const;
    const std::map<std::string, node>& nodes() const noexcept { return nodes_; }

    struct session {
        std::chrono::milliseconds timeout;
        std::set<std::string> nodes;
    };
    const std::map<std::int64_t, session>& sessions() const noexcept { return sessions_; }
    std::int64_t zxid() const noexcept { return zxid_; }

private:
    void create(const change& c, std::int64_t zxid, std::int64_t time, std::vector<sight>* seen);
    void remove(const std::string& path, std::int64_t zxid, std::vector<sight>* seen);

    std::map<std::string, node> nodes_;
    std::map<std::int64_t, session> sessions_;
    std::int64_t zxid_ = 0;
};

std::string parent_of(const std::string& path);

/// Decides a write, as the leader does before it proposes it: the changes, or the error. The tree
/// is the leader's, with all decided changes.
txn decide(const tree& so_far, const request& r, std::int64_t session);

} // namespace paddock::test::sim
