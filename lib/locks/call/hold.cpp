#include "locks/call/hold.hpp"

#include <utility>

namespace paddock::detail {

hold::hold(std::shared_ptr<core> client, std::shared_ptr<held_resource> what, std::string full_path,
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
    // Who wakes up after the end of the lease hears of its node's end first, which came later.
    if (first && why == errc::node_deleted && !term_->alive()) reason_ = errc::lease_lapsed;
    if (why != errc::lease_lapsed)
        at_.store(stage::over, std::memory_order_release);
    else if (first)
        at_.store(stage::lapsing, std::memory_order_release);
    if (!first) return;
    unlink();
    for_end_.complete({}, reason_);
    for (auto* const list : {&for_revoke_, &for_downgrade_})
        list->complete(reason_);
    for (auto& one : std::exchange(at_end_, {}))
        one(reason_);
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
    // end() comes first: it may have ended the resource as well.
    if (!std::exchange(released_, true)) what_->release();
}

void hold::when_deleted(unique_function<void(error_code)> gone) {
    if (core_->closed())
        gone({});
    else
        what_->when_deleted(std::move(gone));
}

void hold::when_ended(pending_call_ptr<error_code> call) {
    if (over())
        call->complete({}, reason_);
    else
        for_end_.add(std::move(call));
}

void hold::when_ended(unique_function<void(error_code)> tell) {
    if (over())
        tell(reason_);
    else
        at_end_.push_back(std::move(tell));
}

void hold::when_revoke_requested(pending_call_ptr<> call) {
    if (revoke_requested_)
        call->complete({});
    else if (over())
        call->complete(reason_);
    else
        for_revoke_.add(std::move(call));
}

void hold::downgrade(pending_call_ptr<> call) {
    if (!valid()) return call->complete(errc::lock_lost);
    if (shared_.load(std::memory_order_relaxed)) return call->complete({});
    if (over()) return call->complete(reason_); // lapsing: its end was told, and is not told again
    for_downgrade_.add(std::move(call));
    what_->downgrade();
}

void hold::request_revoke() {
    revoke_requested_ = true;
    for_revoke_.complete({});
}

void hold::downgraded(const std::string& full_path) {
    shared_path_ = full_path;
    shared_.store(true, std::memory_order_release);
    for_downgrade_.complete({});
}

} // namespace paddock::detail
