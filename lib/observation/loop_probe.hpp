#pragma once

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace paddock::detail {

/// Tells whether the event loop runs what it is given: every look gives it a task, unless the one
/// before is still waiting. Any thread.
class loop_probe {
public:
    /// How long the task of an earlier look has been waiting. `post` gets the task.
    template <typename Post>
    boot_clock::duration look(boot_clock::time_point now, Post post) {
        std::int64_t none = 0;
        if (since_->compare_exchange_strong(none, now.time_since_epoch().count())) {
            post([since = since_] { since->store(0); });
            return {};
        }
        return std::max(now - boot_clock::time_point(boot_clock::duration(none)),
                        boot_clock::duration::zero());
    }

private:
    /// Of the task that waits, which may outlive the client; 0: none does.
    const std::shared_ptr<std::atomic<std::int64_t>> since_ =
        std::make_shared<std::atomic<std::int64_t>>(0);
};

} // namespace paddock::detail
