#include "client/client_base.hpp"

#include "support/log.hpp"

namespace paddock::detail {

namespace {
/// The value of pending_releases_ after end_holds().
struct releases_ended_mark final : releasable {
    void release_on_strand() override {}
} releases_ended;
} // namespace

client_base::client_base(asio::any_io_executor io, std::unique_ptr<environment> env,
                         lease_term::clock now, log_function log, std::shared_ptr<observer> seen_by)
    : io_(std::move(io))
    , env_(std::move(env))
    , clock_(now)
    , deadlines_(*env_)
    , draining_(*env_)
    , observers_(std::move(seen_by), std::move(log))
    , log_(observers_)
    , losses_(*env_, log_) {}

void client_base::prepare_releases() {
    if (!wakeup_) wakeup_ = env_->make_wakeup([this] { run_pending_releases(); });
}

void client_base::release_later(std::shared_ptr<releasable> what) noexcept {
    auto* const raw = what.get();
    raw->self_ = std::move(what);
    auto* newest = pending_releases_.load();
    do {
        if (newest == &releases_ended) { // after end_holds(): only destroy it
            const auto last = std::move(raw->self_);
            return;
        }
        raw->next_ = newest;
    } while (!pending_releases_.compare_exchange_weak(newest, raw));
    if (!newest) wakeup_->notify();
}

void client_base::run_pending_releases() noexcept {
    if (pending_releases_.load() != &releases_ended) take(pending_releases_.exchange(nullptr));
}

/// Releases the objects in the order of release_later().
void client_base::take(releasable* newest) noexcept {
    releasable* oldest = nullptr;
    while (newest) {
        auto* const next = std::exchange(newest->next_, oldest);
        oldest = std::exchange(newest, next);
    }
    while (oldest) {
        const auto self = std::move(oldest->self_);
        oldest = std::exchange(oldest->next_, nullptr);
        if (!closed()) self->release_on_strand();
    }
}

void client_base::end_holds() noexcept {
    deadlines_.clear();
    losses_.close();
    take(pending_releases_.exchange(&releases_ended));
    if (wakeup_) wakeup_->stop();
}

void client_base::when_ended(unique_function<void()> done) {
    if (ended_)
        done();
    else
        end_callbacks_.push_back(std::move(done));
}

void client_base::end() {
    ended_ = true;
    for (auto& done : std::exchange(end_callbacks_, {}))
        done();
}

client_statistics client_base::common_statistics() const {
    client_statistics all;
    all.locks = series_.copy();
    observers_.copy_to(all);
    return all;
}

client_health client_base::health() {
    if (refused_.load(std::memory_order_acquire))
        return {.alive = false, .reason = "closed: the servers refuse the credentials"};
    if (closed_.load(std::memory_order_acquire)) return {.reason = "closed"};
    const auto late = probe_.look(clock_(), [this](auto task) { post(std::move(task)); });
    if (late > patience())
        return {.alive = false, .reason = "the event loop has not run for " + in_words(late)};
    if (draining_.begun()) return {.reason = "draining: no more locks are granted"};
    return readiness();
}

void client_base::after_fork() noexcept {
    env_->after_fork();
    observers_.dismiss();
    losses_.drop();
    close(errc::closed);
}

void client_base::shutdown() noexcept {
    observers_.dismiss();
    losses_.drop();
    close(errc::closed);
    drop_connections();
    const auto unheard = std::exchange(end_callbacks_, {}); // a close() in progress, which keeps us
    std::unique_lock lock(context_mutex_);
    io_ = {};
    const auto last = std::move(env_);
    lock.unlock(); // the tasks that it destroys may post
}

} // namespace paddock::detail
