#pragma once

#include "line/line.hpp"
#include "locks/hold.hpp"
#include "locks/line_lock.hpp"
#include "support/bridge.hpp"

#include <paddock/ticket.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// The inside of a ticket: a place in a line that somebody watches. On the strand, but for what is
/// said to be for any thread.
class queued final : public entrant,
                     public tenure,
                     public returnable,
                     public std::enable_shared_from_this<queued> {
public:
    queued(std::shared_ptr<const line_lock> lock, handler<void(error_code, ticket)>&& h);

    // Any thread.
    void launch();
    std::size_t position() const noexcept { return position_.load(std::memory_order_acquire); }
    const std::shared_ptr<const line_lock>& lock() const noexcept { return lock_; }

    /// Tells once when the position is another than now.
    struct watcher {
        bridge<error_code, std::size_t> user;
    };
    void when_changed(std::shared_ptr<watcher> who, std::size_t seen);
    void forget(const std::shared_ptr<watcher>& who);
    void deliver(bridge<error_code, guard> who);
    /// Nobody wants the lock any more.
    void leave(error_code why);
    void come_back() override { leave(asio::error::operation_aborted); }

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override {}
    void failed(error_code why) override;
    void lost(error_code why) override;
    void asked_back() override;
    void moved() override;

    void release() override { line_->release(key_); }
    void when_gone(unique_function<void(error_code)> gone) override;

private:
    void begin();
    void placed();
    void tell_position();
    void over();

    std::shared_ptr<const line_lock> lock_;
    bridge<error_code, ticket> entering_;
    bridge<error_code, guard> waiting_; ///< in acquired()
    std::vector<std::shared_ptr<watcher>> watchers_;
    std::atomic<std::size_t> position_{0};
    std::shared_ptr<line> line_;
    rules::contender_key key_ = 0; ///< 0: not in the line
    bool observing_ = false;       ///< the line
    std::optional<error_code> failure_;
    std::optional<guard> granted_; ///< and not asked for yet
    std::weak_ptr<hold> hold_;
};

/// One call of enqueue().
void enqueue(std::shared_ptr<const line_lock> lock, handler<void(error_code, ticket)> h);

} // namespace paddock::detail
