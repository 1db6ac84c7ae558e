#include "support/asio_parts.hpp"

#include <mutex>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;

/// A wait that never ends by itself, and that notify() cancels: Asio then posts the operation that
/// it has already allocated.
///
/// No notification is lost. `pending` is only true from a notify() until the handler of the wait
/// that it cancelled has begun the next wait, and only then is `woken` called. So whoever finds it
/// true comes before a call of `woken`; and whoever finds it false finds a wait to cancel.
struct wakeup_core : std::enable_shared_from_this<wakeup_core> {
    wakeup_core(const io_strand& strand, unique_function<void()> call)
        : wait(strand), woken(std::move(call)) {}

    void start() { // with the mutex held, or before anybody else knows of this
        wait.expires_at(io_timer::time_point::max());
        wait.async_wait([self = shared_from_this()](const auto&) { self->woke(); });
    }

    void notify() noexcept {
        const std::lock_guard lock(mutex);
        if (pending || dead) return;
        pending = true;
        cancel();
    }

    void woke() {
        {
            const std::lock_guard lock(mutex);
            if (dead) return;
            start();
            pending = false;
        }
        woken();
    }

    void die() noexcept {
        const std::lock_guard lock(mutex);
        dead = true;
        cancel();
    }

    void cancel() noexcept {
        try {
            wait.cancel();
        } catch (...) {
        }
    }

    std::mutex mutex;
    io_timer wait;
    unique_function<void()> woken;
    bool pending = false;
    bool dead = false;
};

class asio_wakeup final : public wakeup {
public:
    asio_wakeup(const io_strand& strand, unique_function<void()> woken)
        : core_(std::make_shared<wakeup_core>(strand, std::move(woken))) {
        core_->start();
    }
    ~asio_wakeup() override { core_->die(); }

    void notify() noexcept override { core_->notify(); }
    void stop() noexcept override { core_->die(); }

private:
    std::shared_ptr<wakeup_core> core_;
};

} // namespace

std::unique_ptr<wakeup> make_asio_wakeup(const io_strand& strand, unique_function<void()> woken) {
    return std::make_unique<asio_wakeup>(strand, std::move(woken));
}

} // namespace paddock
