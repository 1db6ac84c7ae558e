#pragma once

#include "line/line.hpp"
#include "session/core.hpp"
#include "support/bridge.hpp"

#include <paddock/guard.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace paddock::detail {

/// What a granted contender has; the inside of a guard. On the strand, but for what is said to be
/// for any thread. The lease (DESIGN: its deadline, one atomic per epoch) will be read in valid().
class hold final : public returnable {
public:
    hold(std::shared_ptr<core> client, std::shared_ptr<line> in, rules::contender_key who,
         std::string full_path, std::int64_t czxid);

    // Any thread.
    bool valid() const noexcept { return !over_.load(std::memory_order_acquire); }
    std::string_view path() const noexcept;
    const std::string& full_path() const noexcept { return full_path_; }
    fencing_token token() const noexcept { return {czxid_, 0}; }
    const std::shared_ptr<core>& client() const noexcept { return core_; }

    /// Ends the hold, for the first reason that is given, and tells whoever waits for that.
    void end(error_code why);
    /// Ends the hold and gives the lock to the next.
    void release();
    void come_back() override { release(); }

    bool over() const noexcept { return !valid(); }
    error_code reason() const noexcept { return reason_; }

    /// Somebody waits for the end.
    struct listener {
        bridge<error_code> user;
    };
    void when_over(std::shared_ptr<listener> who);

private:
    std::shared_ptr<core> core_;
    std::shared_ptr<line> line_;
    rules::contender_key who_;
    std::string full_path_;
    std::int64_t czxid_;
    std::atomic<bool> over_{false};
    error_code reason_;
    std::vector<std::shared_ptr<listener>> listeners_;
};

} // namespace paddock::detail
