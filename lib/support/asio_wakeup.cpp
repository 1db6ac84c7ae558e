#include "support/asio_parts.hpp"
#include "support/fork.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;

/// A timer wait without end that notify() cancels. Asio then posts the operation that it has
/// already allocated, so notify() allocates nothing.
///
/// No notification is lost. notify() sets `pending` and cancels the wait; the wait's handler begins
/// the next wait, clears `pending`, and then calls `woken`. So a notify() that finds `pending` set
/// precedes that call of `woken`, and one that finds it clear has a wait to cancel.
struct wakeup_state : std::enable_shared_from_this<wakeup_state> {
    wakeup_state(const io_strand& strand, unique_function<void()> call)
        : wait(strand), woken(std::move(call)) {}

    void start() { // with the mutex held, or before another thread can call
        wait->expires_at(io_timer::time_point::max());
        wait->async_wait([self = shared_from_this()](const auto&) { self->on_wait_ended(); });
    }

    void notify() noexcept {
        if (!owner.is_this_process()) return; // a thread of the parent may have locked the mutexes
        const std::lock_guard lock(mutex);
        if (pending || !wait) return;
        pending = true;
        try {
            wait->cancel();
        } catch (...) {
        }
    }

    void on_wait_ended() {
        {
            const std::lock_guard lock(mutex);
            if (!wait) return;
            start();
            pending = false;
        }
        woken();
    }

    /// Destroys the timer: this object may outlive the execution context.
    void detach() noexcept {
        const std::lock_guard lock(mutex);
        wait.reset();
    }

    std::mutex mutex;
    std::optional<io_timer> wait; ///< until detach()
    unique_function<void()> woken;
    bool pending = false;
    const process_stamp owner;
};

class asio_wakeup final : public wakeup {
public:
    asio_wakeup(const io_strand& strand, unique_function<void()> woken)
        : core_(std::make_shared<wakeup_state>(strand, std::move(woken))) {
        core_->start();
    }
    ~asio_wakeup() override { core_->detach(); }

    void notify() noexcept override { core_->notify(); }
    void stop() noexcept override { core_->detach(); }

private:
    std::shared_ptr<wakeup_state> core_;
};

} // namespace

std::unique_ptr<wakeup> make_asio_wakeup(const io_strand& strand, unique_function<void()> woken) {
    return std::make_unique<asio_wakeup>(strand, std::move(woken));
}

} // namespace paddock
