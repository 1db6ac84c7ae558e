#pragma once

#include "queue/lock_queue.hpp"
#include "session/core.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

/// The lock queues of one client, one for each lock in use. Strand only.
class lock_queues final : public session_listener {
public:
    explicit lock_queues(core& client) : core_(client) {} ///< for core::use()

    std::shared_ptr<lock_queue> get(const std::string& directory, const rules::naming& names);

    void on_connected() override;
    void on_suspended() override;
    void on_expired() override;
    void on_closed(error_code why) override;

private:
    std::vector<std::shared_ptr<lock_queue>> live_queues();

    core& core_;
    std::map<std::pair<std::string, std::string>, std::weak_ptr<lock_queue>> queues_;
    std::size_t cleanup_size_ = 64;
};

} // namespace paddock::detail
