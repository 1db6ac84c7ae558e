#pragma once

#include "queue/lock_queue.hpp"
#include "session/core.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

/// The lock queues of one client, one for each lock in use. It forgets a queue within seconds after
/// its last contender, so that a client can use any number of locks one after the other. Strand
/// only.
class lock_queues final : public session_listener {
public:
    explicit lock_queues(core& client) : core_(client) {} ///< for core::use()

    /// `turn_only`: as rules::contender_terms::turn_only, of all its contenders.
    std::shared_ptr<lock_queue> get(const std::string& directory, const rules::naming& names,
                                    bool turn_only = false);

    /// The number of queues that are not forgotten.
    std::size_t size() const noexcept { return queues_.size(); }

    void on_connected() override;
    void on_suspended() override;
    void on_expired() override;
    void on_closed(error_code why) override;

private:
    /// By directory and marker of the names.
    using queues = std::map<std::pair<std::string, std::string>, std::weak_ptr<lock_queue>>;

    std::vector<std::shared_ptr<lock_queue>> live_queues();
    void forget_ended(std::size_t looks);
    void arm(boot_clock::duration pause);
    void look_through();

    core& core_;
    queues queues_;
    queues::iterator next_look_ = queues_.end(); ///< end: at the first
    std::unique_ptr<timer> timer_;               ///< armed while there are queues
};

} // namespace paddock::detail
