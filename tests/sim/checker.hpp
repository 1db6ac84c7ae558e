#pragma once

#include "sim/ensemble.hpp"
#include "sim/host.hpp"

#include <paddock/guard.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// A lock that several processes contend for.
struct contested {
    std::string directory;
    /// A part of its nodes' names; empty if their numbers do not give the order.
    std::string marker{};
    int permits = 1;
    bool recursive = false; ///< several guards of one node are one holder
};

/// One hold of it.
struct holding {
    const contested* lock = nullptr;
    bool exclusive = true;
    host* where = nullptr;
    const guard* held = nullptr;
    std::int64_t session = 0;
    std::string contender{};
    bool fresh = true; ///< it was not held before; a hold is not watched from the first
    bool lost = false; ///< it has reported its loss
};

/// Knows all holds, and checks the promises of the locks.
class checker {
public:
    checker(ensemble& all, std::string root) : all_(all), root_(std::move(root)) {}

    /// A guard was granted.
    void granted(const holding& h);
    /// It is about to be downgraded: readers may share the lock from now on.
    void shared(const guard* held);
    /// It is about to be released.
    void released(const guard* held);
    /// This process has no hold any more.
    void forget(const host* where);

    /// The servers are new ones, which number their transactions from the beginning.
    void forget_tokens() { tokens_.clear(); }

    /// After each event.
    void look();
    /// The locks keep to this at all times, but for the troubles that the ensemble has, or had
    /// until lately: a client that does not hold a lock does not keep it from another.
    void look_at_free(const contested& lock);
    /// The transactions of this lock's holds write their tokens into its directory: a hold is not
    /// passed on before the transactions of the one before are over.
    void look_at_writes(const contested& lock);
    /// When no contender holds or waits, and time enough has passed.
    void look_at_the_end() const;
    /// Nor is an empty directory left that was made with a node, if no process has died.
    void look_for_empty_directories() const;

private:
    /// As the servers know it.
    std::string path(const holding& h) const {
        return all_.now_at(root_ + std::string(h.held->path()), h.session);
    }
    bool exists(const holding& h) const;
    bool counts(const holding& h) const;
    void check_news(const holding& h) const;
    void check_order(const holding& h) const;
    void check_token(const holding& h);
    bool same_holder(const holding& a, const holding& b) const;

    ensemble& all_;
    std::string root_;
    std::vector<holding> holdings_;
    std::map<const contested*, fencing_token> tokens_;
    struct free_node {
        std::string path;
        time_point since{};
    };
    std::map<const contested*, free_node> free_;
    std::string written_;
};

} // namespace paddock::test::sim
