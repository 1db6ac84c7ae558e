#include "queue/lock_queues.hpp"

#include <chrono>
#include <iterator>

namespace paddock::detail {

namespace {
// A look takes some 100 ns, so no pass of a client with 100'000 queues delays other work.
constexpr std::size_t looks_at_once = 1000;
constexpr std::chrono::milliseconds pause_in_pass{10};
constexpr std::chrono::seconds pause_between_passes{1}; // an ended queue costs only its memory
} // namespace

std::shared_ptr<lock_queue> lock_queues::get(const std::string& directory,
                                             const rules::naming& names, bool turn_only) {
    forget_ended(2); // more than the one that this call may add
    auto& known = queues_[{directory, names.marker()}];
    if (auto living = known.lock()) return living;
    auto made = std::make_shared<lock_queue>(core_, directory, names, turn_only);
    known = made;
    if (core_.state() == client_state::connected) made->on_connected();
    if (!timer_) arm(pause_between_passes);
    return made;
}

/// Looks at so many queues, or to the end of the list, and forgets those that have ended. (A queue
/// cannot do that itself, because the thread that drops its last reference may be any.)
void lock_queues::forget_ended(std::size_t looks) {
    if (next_look_ == queues_.end()) next_look_ = queues_.begin();
    for (; looks > 0 && next_look_ != queues_.end(); --looks)
        next_look_ =
            next_look_->second.expired() ? queues_.erase(next_look_) : std::next(next_look_);
}

void lock_queues::arm(boot_clock::duration pause) {
    if (core_.closed()) return;
    if (!timer_) timer_ = core_.env().make_timer();
    timer_->arm(core_.env().now() + pause, [this] { look_through(); });
}

void lock_queues::look_through() {
    forget_ended(looks_at_once);
    if (queues_.empty())
        timer_.reset();
    else
        arm(next_look_ == queues_.end() ? boot_clock::duration(pause_between_passes)
                                        : pause_in_pass);
}

std::vector<std::shared_ptr<lock_queue>> lock_queues::live_queues() {
    std::vector<std::shared_ptr<lock_queue>> out;
    for (const auto& [key, weak] : queues_)
        if (auto one = weak.lock()) out.push_back(std::move(one));
    return out;
}

void lock_queues::on_connected() {
    for (const auto& one : live_queues())
        one->on_connected();
}

void lock_queues::on_suspended() {
    for (const auto& one : live_queues())
        one->on_suspended();
}

void lock_queues::on_expired() {
    for (const auto& one : live_queues())
        one->on_expired();
}

void lock_queues::on_closed(error_code why) {
    timer_.reset();
    for (const auto& one : live_queues())
        one->on_closed(why);
}

} // namespace paddock::detail
