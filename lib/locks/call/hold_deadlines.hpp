#pragma once

#include "session/core.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace paddock::detail {

class hold;

/// The times at which holds with a longest time end, and at which their locks are released all the
/// same. One timer serves all holds of a client. Strand only.
class hold_deadlines final : public session_listener {
public:
    using key = std::pair<boot_clock::time_point, std::uint64_t>;

    explicit hold_deadlines(core& client) : core_(client) {}

    /// Calls hold::on_deadline() at that time if the hold exists then.
    key add(boot_clock::time_point when, std::weak_ptr<hold> held);
    void remove(const key& which) { held_.erase(which); }

    void on_connected() override {}
    void on_suspended() override {}
    void on_expired() override {}
    void on_closed(error_code) override;

private:
    void arm();
    void fire();

    core& core_;
    std::map<key, std::weak_ptr<hold>> held_;
    std::uint64_t last_ = 0;
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::detail
