#pragma once

#include "support/environment.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace paddock::detail {

class hold;

/// The times at which holds with a longest time end, and at which their locks are released all the
/// same. One timer serves all holds of a client. Strand only.
class hold_deadlines {
public:
    using key = std::pair<boot_clock::time_point, std::uint64_t>;

    explicit hold_deadlines(environment& env) : env_(env) {}

    /// Calls hold::on_deadline() at that time if the hold exists then.
    key add(boot_clock::time_point when, std::weak_ptr<hold> held);
    void remove(const key& which) { held_.erase(which); }
    void clear() noexcept;

private:
    void arm();
    void fire();

    environment& env_;
    std::map<key, std::weak_ptr<hold>> held_;
    std::uint64_t last_ = 0;
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::detail
