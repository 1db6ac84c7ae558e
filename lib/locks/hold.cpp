#include "locks/hold.hpp"

#include <utility>

namespace paddock::detail {

hold::hold(std::shared_ptr<core> client, std::shared_ptr<line> in, rules::contender_key who,
           std::string full_path, std::int64_t czxid)
    : core_(std::move(client))
    , line_(std::move(in))
    , who_(who)
    , full_path_(std::move(full_path))
    , czxid_(czxid) {}

std::string_view hold::path() const noexcept {
    return std::string_view(full_path_).substr(core_->root().size());
}

void hold::end(error_code why) {
    if (over_.load(std::memory_order_relaxed)) return;
    reason_ = why;
    over_.store(true, std::memory_order_release);
    for (const auto& one : std::exchange(listeners_, {}))
        if (one->user) one->user.complete(why);
}

void hold::release() {
    end(errc::released);
    // The line's own end of the hold comes first: it may be over already.
    if (const auto in = std::exchange(line_, nullptr)) in->release(who_);
}

void hold::when_over(std::shared_ptr<listener> who) {
    if (over())
        who->user.complete(reason_);
    else
        listeners_.push_back(std::move(who));
}

} // namespace paddock::detail
