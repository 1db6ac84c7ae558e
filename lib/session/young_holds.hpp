#pragma once

#include "support/environment.hpp"
#include "support/function.hpp"

#include <deque>
#include <memory>

namespace paddock::detail {

/// Holds too young to be worth a watch on their own nodes: for at most 100 ms. One timer for all of
/// a client's, which seldom fires, so that a short critical section pays nothing. Strand only.
class young_holds {
public:
    explicit young_holds(environment& env) : env_(env) {}

    /// Calls back when the hold that begins now is old; it may be over by then.
    void add(unique_function<void()> grown);
    void clear() noexcept;

private:
    void look();

    struct hold {
        boot_clock::time_point old_at;
        unique_function<void()> grown;
    };

    environment& env_;
    std::deque<hold> all_; ///< in the order of their grants
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::detail
