#include "support/asio_parts.hpp"

#include <algorithm>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;

/// Outlives the timer object as long as a wait is under way, so that a late handler finds out.
struct timer_core : std::enable_shared_from_this<timer_core> {
    explicit timer_core(const io_strand& strand) : wait(strand) {}

    /// Most deadlines are moved away before they come. So a wait that ends too early is left alone,
    /// and begins again when it has ended; only an earlier deadline costs a system call.
    void arm(boot_clock::time_point deadline, unique_function<void()> call) {
        when = deadline;
        fired = std::move(call);
        if (!waiting || deadline < wakes_at) start();
    }

    void start() {
        const auto left = std::max(when - boot_clock::now(), boot_clock::duration::zero());
        // The steady clock cannot look centuries ahead.
        const auto sleep = std::min<boot_clock::duration>(left, std::chrono::hours(24));
        wakes_at = boot_clock::now() + sleep;
        wait.expires_after(std::chrono::duration_cast<io_timer::duration>(sleep));
        wait.async_wait([self = shared_from_this(), turn = ++generation](const auto&) {
            if (self->generation == turn) self->woke();
        });
        waiting = true;
    }

    void woke() {
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
            wait.cancel(); // else it would keep the io_context at work
        } catch (...) {
        }
    }

    io_timer wait;
    boot_clock::time_point when{};
    boot_clock::time_point wakes_at{};
    unique_function<void()> fired;
    std::uint64_t generation = 0;
    bool waiting = false;
};

class asio_timer final : public timer {
public:
    explicit asio_timer(const io_strand& strand) : core_(std::make_shared<timer_core>(strand)) {}
    ~asio_timer() override { core_->cancel(); }

    void arm(boot_clock::time_point when, unique_function<void()> fired) override {
        core_->arm(when, std::move(fired));
    }
    void cancel() noexcept override { core_->cancel(); }

private:
    std::shared_ptr<timer_core> core_;
};

} // namespace

std::unique_ptr<timer> make_asio_timer(const io_strand& strand) {
    return std::make_unique<asio_timer>(strand);
}

} // namespace paddock
