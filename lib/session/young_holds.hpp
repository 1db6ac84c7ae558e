#pragma once

#include "support/environment.hpp"
#include "support/function.hpp"

#include <deque>
#include <memory>

namespace paddock::detail {

/// Delays the watch on a hold's own node, by at most 100 ms, so that a short critical section costs
/// no watch. One timer serves all holds of a client, and seldom fires. Strand only.
class young_holds {
public:
    explicit young_holds(environment& env) : env_(env) {}

    /// Adds the hold that begins now. Calls `grown_old` after the delay, even if the hold has ended
    /// by then.
    void add(unique_function<void()> grown_old);
    void clear() noexcept;

private:
    void check();

    struct hold {
        boot_clock::time_point old_at;
        unique_function<void()> grown_old;
    };

    environment& env_;
    std::deque<hold> holds_; ///< in the order of their grants
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::detail
