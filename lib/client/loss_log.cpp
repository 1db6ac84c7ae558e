#include "client/loss_log.hpp"

#include "rules/log_limit.hpp"

#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
/// In one period: examples of what is lost, and no flood when thousands are.
constexpr int most_lines = 3;
constexpr auto period = rules::log_limit::first_pause;
/// Holds that are lost together are reported by then: the client tells them one after the other. A
/// person who reads the log notices no such delay.
constexpr std::chrono::milliseconds burst{100};
/// A loss that was noticed so much later was perhaps another client's gain meanwhile. Below that it
/// is how long a busy event loop takes.
constexpr std::chrono::seconds unnoticed_for_long{1};
} // namespace

void loss_log::add(std::string_view path, error_code why, boot_clock::duration held,
                   boot_clock::duration unnoticed) {
    const auto now = env_.now();
    if (now >= period_end_) {
        say_rest();
        period_end_ = now + period;
        lines_ = 0;
    }
    const auto lock = "the lock " + std::string(path);
    const bool by_stall = why == errc::lease_lapsed && now - stall_told_ < burst;
    auto reason =
        by_stall ? "the program's event loop stood still, so nothing renewed it" : why.message();
    if (unnoticed >= unnoticed_for_long)
        reason += "; noticed " + in_words(unnoticed) +
                  " later, and since then another client may have held it";
    if (why == errc::revoked)
        return static_cast<void>(log_.write(log_code::lock_revoked,
                                            lock + " was ended, held for " + in_words(held) +
                                                ", because another client asked for it",
                                            now, path));
    if (lines_ < most_lines) {
        ++lines_;
        return log_.write_now(log_code::lock_lost,
                              lock + " is lost, held for " + in_words(held) + ": " + reason, path);
    }
    last_of_rest_ = std::string(path) + ": " + reason;
    if (rest_++ > 0) return;
    if (!timer_) timer_ = env_.make_timer();
    const bool first_burst = lines_++ == most_lines;
    timer_->arm(first_burst ? now + burst : period_end_, [this] { say_rest(); });
}

void loss_log::stalled(boot_clock::duration time) {
    const auto now = env_.now();
    if (now - stall_told_ < time) return; // the same one, which another hold reports
    stall_told_ = now;
    log_.write(log_code::loop_stalled,
               "the program's event loop stood still for at least " + in_words(time) +
                   ", and locks are lost because nothing renewed them: code that blocks must not "
                   "run on the client's executor (or the process, or its machine, was paused)",
               now);
}

void loss_log::say_rest() {
    const auto rest = std::exchange(rest_, 0);
    if (rest == 0) return;
    timer_->cancel();
    const auto last = std::exchange(last_of_rest_, {});
    log_.write_now(log_code::lock_lost,
                   rest == 1
                       ? "another lock is lost, too: " + last
                       : std::to_string(rest) + " other locks are lost, too, the last one " + last);
}

void loss_log::close() {
    say_rest();
    timer_.reset();
}

void loss_log::drop() noexcept {
    rest_ = 0;
    timer_.reset();
}

} // namespace paddock::detail
