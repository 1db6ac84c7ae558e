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
    /// What its nodes have in their names; empty if their numbers do not say who comes first.
    std::string marker{};
    int permits = 1;
    bool recursive = false; ///< several guards of one node are one holder
};

/// What somebody has of it.
struct holding {
    const contested* lock = nullptr;
    bool exclusive = true;
    host* where = nullptr;
    const guard* held = nullptr;
    std::int64_t session = 0;
    std::string contender{};
    bool fresh = true; ///< it was not held before; a hold is not watched from the first
    bool lost = false; ///< it has said so once
};

/// Knows who holds what, and what must never be.
class checker {
public:
    checker(ensemble& all, std::string root) : all_(all), root_(std::move(root)) {}

    /// A guard has come.
    void granted(const holding& h);
    /// It is about to be downgraded: others may share the lock from now on.
    void shared(const guard* held);
    /// It is about to go.
    void released(const guard* held);
    /// Nobody has anything of this process any more.
    void forget(const host* where);

    /// After everything that happens.
    void look();
    /// When nobody holds or waits, and time enough has passed.
    void look_at_the_end() const;

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
    std::map<const contested*, std::int64_t> tokens_;
};

} // namespace paddock::test::sim
