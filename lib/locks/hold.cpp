#include "locks/hold.hpp"

#include <utility>

namespace paddock::detail {

hold::hold(std::shared_ptr<core> client, std::shared_ptr<tenure> what, std::string full_path,
           std::int64_t czxid, bool can_downgrade)
    : core_(std::move(client))
    , term_(core_->lease().term())
    , what_(std::move(what))
    , full_path_(std::move(full_path))
    , czxid_(czxid)
    , can_downgrade_(can_downgrade) {
    core_->lease().keep(*this);
}

std::string_view hold::path() const noexcept {
    return std::string_view(full_path()).substr(core_->root().size());
}

void hold::end(error_code why) {
    const bool first = !over();
    if (first) reason_ = why;
    if (why != errc::lease_lapsed)
        at_.store(stage::over, std::memory_order_release);
    else if (first)
        at_.store(stage::lapsing, std::memory_order_release);
    if (!first) return;
    unlink();
    for (auto* const list : {&for_end_, &for_asking_, &for_downgrade_})
        list->tell(why);
    for (auto& one : std::exchange(at_end_, {}))
        one(why);
    what_->ended(why);
}

std::vector<operation> hold::checks() const {
    std::vector<operation> steps{op::check{full_path(), any_version}};
    for (const auto& other : others_)
        steps.emplace_back(op::check{other, any_version});
    return steps;
}

void hold::release() {
    end(errc::released);
    // The tenure's own end comes first: it may be over already.
    if (!std::exchange(released_, true)) what_->release();
}

void hold::when_gone(unique_function<void(error_code)> gone) {
    if (core_->closed())
        gone({});
    else
        what_->when_gone(std::move(gone));
}

void hold::when_over(listener_ptr who) {
    if (over())
        who->user.complete(reason_);
    else
        for_end_.add(std::move(who));
}

void hold::when_over(unique_function<void(error_code)> tell) {
    if (over())
        tell(reason_);
    else
        at_end_.push_back(std::move(tell));
}

void hold::when_asked_back(listener_ptr who) {
    if (asked_back_)
        who->user.complete({});
    else if (over())
        who->user.complete(reason_);
    else
        for_asking_.add(std::move(who));
}

void hold::downgrade(listener_ptr who) {
    if (!valid()) return who->user.complete(errc::lock_lost);
    if (shared_.load(std::memory_order_relaxed)) return who->user.complete({});
    for_downgrade_.add(std::move(who));
    if (for_downgrade_.size() == 1) what_->downgrade();
}

void hold::ask_back() {
    asked_back_ = true;
    for_asking_.tell({});
}

void hold::downgraded(const std::string& full_path) {
    shared_path_ = full_path;
    shared_.store(true, std::memory_order_release);
    for_downgrade_.tell({});
}

} // namespace paddock::detail
