#include "session/core.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {
/// The value of pending_releases_ after end_releases().
struct releases_ended_mark final : releasable {
    void release_on_strand() override {}
} releases_ended;

/// The bytes of a SetWatches request besides its paths.
constexpr std::size_t request_envelope = 64;
} // namespace

core::core(asio::any_io_executor io, world outside, std::vector<native::server_address> servers,
           std::string root, client_options options)
    : io_(std::move(io))
    , env_(std::move(outside.env))
    , make_calls_(std::move(outside.make_calls))
    , clock_(outside.clock)
    , servers_(std::move(servers))
    , root_(std::move(root))
    , options_(std::move(options))
    , lease_({*env_, clock_, dispatcher_, log_, [this] { change_server(); }}, options_.lease)
    , dispatcher_(*env_,
                  {options_.budgets.requests_in_flight, options_.budgets.request_bytes_in_flight},
                  lease_)
    , watches_(dispatcher_, std::min(options_.budgets.watched_path_bytes,
                                     options_.max_request_bytes - request_envelope))
    , nodes_(std::min(options_.budgets.node_path_bytes, options_.max_request_bytes))
    , sweeper_(*env_, dispatcher_, claims_, nodes_, log_)
    , young_holds_(*env_) {}

core::~core() { stop_pump(); }

void core::start() {
    if (!pump_ && !closed()) open_session();
}

void core::open_session() {
    native::pump_options how{
        .servers = servers_, .session_timeout = options_.session_timeout, .auth = {}};
    for (const auto& credentials : options_.auth)
        how.auth.push_back({"digest", credentials.user + ':' + credentials.password});
    pump_ = std::make_shared<native::pump>(*env_, make_calls_(), std::move(how), *this);
    pump_->start();
}

void core::stop_pump() noexcept {
    // close() completes open requests from within; their callbacks may use the pump.
    if (pump_) pump_->close();
    pump_.reset();
}

void core::listen(std::weak_ptr<session_listener> listener) {
    if (listeners_.size() >= tidy_listeners_at_) {
        std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
        tidy_listeners_at_ = 2 * listeners_.size() + 64;
    }
    listeners_.push_back(std::move(listener));
}

template <typename Event>
void core::notify(Event event) {
    for (const auto& [type, service] : services_)
        event(*service);
    const auto all = listeners_; // a call may add listeners
    for (const auto& one : all)
        if (const auto listener = one.lock()) event(*listener);
}

void core::set_state(client_state next) {
    state_.store(next, std::memory_order_release);
    state_waiters rest;
    for (auto& [id, waiter] : std::exchange(state_waiters_, {}))
        if (waiter.seen == next || waiter.changed(next)) rest.emplace(id, std::move(waiter));
    state_waiters_.merge(rest);
}

core::state_waiter_id core::when_not(client_state seen,
                                     unique_function<bool(client_state)> changed) {
    if (state() != seen && !changed(state())) return 0;
    state_waiters_.emplace(++last_state_waiter_, state_waiter{seen, std::move(changed)});
    return last_state_waiter_;
}

void core::on_connected(std::uint64_t) noexcept {
    const auto id = pump_->session_id();
    const bool new_session = id != session_id();
    if (new_session) {
        claims_.begin(id);
        session_.store(id, std::memory_order_release);
        epoch_.fetch_add(1, std::memory_order_acq_rel);
    }
    timeout_.store(pump_->session_timeout().count(), std::memory_order_release);
    dispatcher_.connect(*pump_);
    lease_.on_connected(new_session, pump_->connected_since(), session_timeout());
    set_state(client_state::connected);
    sweeper_.on_connected(session_timeout());
    notify([](session_listener& listener) { listener.on_connected(); });
    dispatcher_.start_sending();
}

void core::on_disconnected() noexcept {
    set_state(client_state::suspended);
    lease_.on_suspended();
    sweeper_.on_suspended();
    notify([](session_listener& listener) { listener.on_suspended(); });
    dispatcher_.disconnect();
}

void core::on_session_ended(error_code why) noexcept {
    // Not from within the pump's own turn: it is about to be destroyed.
    env_->post([self = shared_from_this(), why] {
        if (self->closed()) return;
        if (why == errc::session_expired)
            self->next_epoch();
        else
            self->close(why);
    });
}

void core::next_epoch() {
    session_.store(0, std::memory_order_release);
    timeout_.store(0, std::memory_order_release);
    set_state(client_state::expired);
    lease_.end();
    dispatcher_.end_session();
    stop_pump();
    sweeper_.on_session_ended();
    watches_.end_session(errc::session_expired);
    notify([](session_listener& listener) { listener.on_expired(); });
    if (closed()) return;
    set_state(client_state::connecting);
    open_session();
}

void core::on_watch(native::watch_type type, std::string_view path) noexcept {
    watches_.on_event(type, path);
}

void core::close(error_code why) {
    if (closed()) return;
    close_reason_ = why;
    session_.store(0, std::memory_order_release);
    timeout_.store(0, std::memory_order_release);
    set_state(client_state::closed);
    lease_.end();
    dispatcher_.close();
    watches_.close(why);
    nodes_.close();
    young_holds_.clear();
    notify([why](session_listener& listener) { listener.on_closed(why); });
    sweeper_.on_session_ended(why);
    end_releases();
    if (wakeup_) wakeup_->stop();
    state_waiters_.clear();
    if (pump_)
        pump_->end_session([self = shared_from_this()] { self->end(); });
    else
        end();
}

void core::change_server() {
    if (!pump_ || pump_->known_servers() < 2) return;
    trouble(trouble_kind::silence, "the server does not answer: looking for another; check its "
                                   "load and the network");
    pump_->drop_connection();
}

void core::trouble(trouble_kind kind, std::string_view what) noexcept {
    if (env_) log_.write(kind, what, env_->now());
}

void core::prepare_releases() {
    if (!wakeup_) wakeup_ = env_->make_wakeup([this] { run_pending_releases(); });
}

void core::release_later(std::shared_ptr<releasable> what) noexcept {
    auto* const raw = what.get();
    raw->self_ = std::move(what);
    auto* newest = pending_releases_.load();
    do {
        if (newest == &releases_ended) { // after end_releases(): only destroy it
            const auto last = std::move(raw->self_);
            return;
        }
        raw->next_ = newest;
    } while (!pending_releases_.compare_exchange_weak(newest, raw));
    if (!newest) wakeup_->notify();
}

void core::run_pending_releases() noexcept {
    if (pending_releases_.load() != &releases_ended) take(pending_releases_.exchange(nullptr));
}

void core::end_releases() noexcept { take(pending_releases_.exchange(&releases_ended)); }

/// Releases the objects in the order of release_later().
void core::take(releasable* newest) noexcept {
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

void core::when_ended(unique_function<void()> done) {
    if (ended_)
        done();
    else
        end_callbacks_.push_back(std::move(done));
}

void core::end() {
    ended_ = true;
    pump_.reset();
    for (auto& done : std::exchange(end_callbacks_, {}))
        done();
}

void core::after_fork() noexcept {
    env_->after_fork();
    close(errc::closed);
}

void core::shutdown() noexcept {
    close(errc::closed);
    stop_pump();
    services_.clear();
    std::unique_lock lock(context_mutex_);
    io_ = {};
    const auto last = std::move(env_);
    lock.unlock(); // the tasks that it destroys may post
}

} // namespace paddock::detail
