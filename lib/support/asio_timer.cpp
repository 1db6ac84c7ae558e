#include "support/asio_parts.hpp"

#include <algorithm>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;

/// Outlives the timer object while a wait is in flight, so that a late handler can check it.
struct timer_state : std::enable_shared_from_this<timer_state> {
    timer_state(const io_strand& strand, std::shared_ptr<const process_stamp> of)
        : wait(strand), owner(std::move(of)) {}

    /// Most deadlines are postponed before they come. So a wait with an earlier end goes on, and
    /// begins again when it has ended; only an earlier deadline costs a system call.
    void arm(boot_clock::time_point deadline, unique_function<void()> call) {
        when = deadline;
        fired = std::move(call);
        if (!waiting || deadline < wakes_at) start();
    }

    void start() {
        if (!owner->is_this_process()) return; // the parent's timers use the same descriptor
        const auto left = std::max(when - boot_clock::now(), boot_clock::duration::zero());
        // A wait of centuries would overflow the steady clock.
        const auto sleep = std::min<boot_clock::duration>(left, std::chrono::hours(24));
        wakes_at = boot_clock::now() + sleep;
        wait.expires_after(std::chrono::duration_cast<io_timer::duration>(sleep));
        wait.async_wait([self = shared_from_this(), turn = ++generation](const auto&) {
            if (self->generation == turn) self->on_wait_ended();
        });
        waiting = true;
    }

    void on_wait_ended() {
        waiting = false;
        if (!fired) return;
        if (boot_clock::now() < when) return start();
        auto call = std::exchange(fired, {}); // the call may arm or destroy the timer
        call();
    }

    void cancel() noexcept {
        fired = {};
        ++generation;
        waiting = false;
        try {
            wait.cancel(); // a pending wait would keep io_context::run() from returning
        } catch (...) {
        }
    }

    io_timer wait;
    std::shared_ptr<const process_stamp> owner;
    boot_clock::time_point when{};
    boot_clock::time_point wakes_at{};
    unique_function<void()> fired;
    std::uint64_t generation = 0;
    bool waiting = false;
};

class asio_timer final : public timer {
public:
    asio_timer(const io_strand& strand, std::shared_ptr<const process_stamp> owner)
        : core_(std::make_shared<timer_state>(strand, std::move(owner))) {}
    ~asio_timer() override { core_->cancel(); }

    void arm(boot_clock::time_point when, unique_function<void()> fired) override {
        core_->arm(when, std::move(fired));
    }
    void cancel() noexcept override { core_->cancel(); }

private:
    std::shared_ptr<timer_state> core_;
};

} // namespace

std::unique_ptr<timer> make_asio_timer(const io_strand& strand,
                                       std::shared_ptr<const process_stamp> owner) {
    return std::make_unique<asio_timer>(strand, std::move(owner));
}

} // namespace paddock
