#include "session/watch_latch.hpp"

#include "session/core_of.hpp"
#include "support/argument.hpp"

namespace paddock {

namespace detail {

error_code watch_latch::use(const std::string& path, watch_kind kind) {
    if (used_) return refused_argument("watch", "has served another read");
    if (!core_->watches().room_for(path, kind)) {
        read_refused(errc::over_budget);
        return errc::over_budget;
    }
    used_ = true;
    enter_table(path, kind);
    return {};
}

void watch_latch::enter_table(const std::string& path, watch_kind kind) {
    core_->watches().drop(path_, waiter_);
    path_ = path;
    waiter_ = core_->watches().add(
        path, kind,
        [weak = weak_from_this()](error_code why, watch_event what) {
            if (const auto self = weak.lock()) self->end_with(why, what);
        },
        watch_table::unarmed::outlives_session);
}

void watch_latch::armed() { core_->watches().armed(path_, waiter_); }

void watch_latch::read_failed(error_code why) {
    core_->watches().drop(path_, waiter_);
    end_with(why, watch_event{});
}

void watch_latch::read_refused(error_code why) {
    if (std::exchange(used_, true)) return;
    read_failed(why);
}

void watch_latch::end_with(error_code why, watch_event what) {
    if (outcome_) return;
    outcome_.emplace(why, what);
    happened_.store(true, std::memory_order_release);
    if (call_) call_->complete(why, what);
}

void watch_latch::take(session_call_ptr<watch_event> call) {
    stop_waiting();
    if (core_->closed() && !outcome_) end_with(core_->close_reason(), watch_event{});
    if (outcome_) return call->complete(outcome_->first, outcome_->second);
    call_ = std::move(call);
    if (waiter_ == 0) enter_table({}, watch_kind::data);
}

void watch_latch::stop_waiting() {
    if (call_) call_->fail(asio::error::operation_aborted);
}

void watch_latch::disarm() {
    stop_waiting();
    if (!outcome_) core_->watches().drop(path_, waiter_);
}

} // namespace detail

watch::watch(const client& zk)
    : latch_(std::make_shared<detail::watch_latch>(detail::core_of(zk))) {}
watch::watch(watch&&) noexcept = default;

watch& watch::operator=(watch&& other) noexcept {
    watch old(std::move(*this));
    latch_ = std::move(other.latch_);
    return *this;
}

watch::~watch() {
    if (!latch_) return;
    latch_->client()->post([latch = latch_] { latch->disarm(); });
}

bool watch::happened() const noexcept { return latch_ && latch_->happened(); }

asio::any_io_executor watch::executor() const noexcept {
    return latch_ ? latch_->client()->get_executor() : asio::any_io_executor();
}

void watch::start_event(detail::handler<void(error_code, watch_event)> h,
                        std::shared_ptr<detail::watch_latch> latch) {
    const auto call = detail::make_pending_call(latch->client(), std::move(h));
    call->start([latch = std::move(latch), call] { latch->take(call); });
}

} // namespace paddock
