#pragma once

#include "rules/names.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace paddock::rules {

struct contender;

/// The watch on a node; `later`: after a pause.
enum class watching : std::uint8_t { no, later, asked, armed };

/// The nodes of a lock queue that are known to exist, in the order of the queue: which of them
/// blocks whom, and who waits.
///
/// Invariants: a local node is that of the contender whose `node` points to it; `exclusive_` has
/// each exclusive node (of a lock that can be shared), `waiting_shared_` each local shared one that
/// is not granted, and neither another; no node is both in the table and among the deleted ones.
class node_table {
public:
    struct node {
        contender* local = nullptr;    ///< null for a foreign node
        watching watch = watching::no; ///< on a foreign node
        role as = role::exclusive;
    };
    using nodes = std::map<node_position, node>;
    using iterator = nodes::iterator;
    using const_iterator = nodes::const_iterator;
    /// Orders iterators of the table as the table orders its nodes.
    struct by_position {
        bool operator()(const iterator& a, const iterator& b) const noexcept {
            return a->first < b->first;
        }
    };
    using node_set = std::set<iterator, by_position>;

    explicit node_table(bool has_shared) : has_shared_(has_shared) {}

    iterator begin() noexcept { return nodes_.begin(); }
    iterator end() noexcept { return nodes_.end(); }
    const_iterator begin() const noexcept { return nodes_.begin(); }
    const_iterator end() const noexcept { return nodes_.end(); }
    bool empty() const noexcept { return nodes_.empty(); }
    std::size_t size() const noexcept { return nodes_.size(); }
    iterator find(const node_position& where) { return nodes_.find(where); }

    /// Whether nodes can be shared.
    bool has_shared() const noexcept { return has_shared_; }
    /// The local shared nodes that are not granted.
    const node_set& waiting_shared() const noexcept { return waiting_shared_; }

    iterator insert(node_position where, node what);
    /// A local node is granted, so it does not wait any more.
    void granted(iterator it) { waiting_shared_.erase(it); }
    /// Returns the next one.
    iterator erase(iterator it);
    void clear() noexcept;

    /// A foreign node that an event reported deleted: a listing may still show it.
    void deleted(std::string_view name) { deleted_.emplace(name); }
    bool was_deleted(std::string_view name) const { return deleted_.contains(name); }
    /// The newest listing still shows these of them.
    void keep_deleted(std::set<std::string, std::less<>> still_listed) noexcept {
        deleted_ = std::move(still_listed);
    }

    /// Whether it is the node of a contender that waits, and knows its blockers.
    bool is_waiter(const_iterator it) const;
    /// The nearest node before it that does not share the lock with it; end() if there is none.
    iterator nearest_blocker(iterator it);
    /// Whether an exclusive node stands before it.
    bool exclusive_before(iterator it) const;
    /// The first waiter whose nearest blocker was the removed node of role `as` before `next`;
    /// end() if there is none.
    iterator first_waiter_behind(iterator next, role as);
    /// Whether the node is the nearest blocker of a waiter.
    bool blocks_waiter(const_iterator it) const;
    /// Whether a node before it blocks a contender of role `as` there.
    bool blocked(const_iterator it, role as) const;
    /// How many nodes before it block a contender of role `as` there.
    std::size_t count_before(const_iterator it, role as) const;

private:
    friend struct state_of_rules; ///< of tests that look at every state

    bool has_shared_;
    nodes nodes_;
    node_set exclusive_; ///< empty if the lock cannot be shared
    node_set waiting_shared_;
    std::set<std::string, std::less<>> deleted_;
};

} // namespace paddock::rules
