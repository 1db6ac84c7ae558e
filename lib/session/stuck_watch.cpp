#include "session/stuck_watch.hpp"

#include "session/core.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace paddock::detail {

void stuck_watch::begin(unique_function<void()> look) {
    look_at(core_.env().now() + patience(), std::move(look));
}

void stuck_watch::stop() noexcept {
    if (std::exchange(looks_, false)) timer_->cancel();
}

boot_clock::duration stuck_watch::patience() const {
    const auto negotiated = core_.session_timeout(); // zero while there is no session
    return negotiated.count() > 0 ? negotiated : core_.options().session_timeout;
}

void stuck_watch::tell(const rules::stuck_waiters& found, std::string_view what,
                       std::string_view path, unique_function<void()> look) {
    looks_ = false;
    if (found.next) look_at(*found.next, std::move(look));
    if (found.count == 0) return;
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(patience());
    core_.trouble(trouble_kind::self_wait,
                  std::to_string(found.count) + " waiting for " + std::string(what) + " at " +
                      std::string(path) + " for more than " + std::to_string(time.count()) +
                      " ms, behind a hold of this same client: who waits for what they hold "
                      "themselves, waits for ever");
}

void stuck_watch::look_at(boot_clock::time_point when, unique_function<void()> look) {
    if (!timer_) timer_ = core_.env().make_timer();
    looks_ = true;
    timer_->arm(when, std::move(look));
}

} // namespace paddock::detail
