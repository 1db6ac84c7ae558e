#include "session/core.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {
/// The bytes of a SetWatches request besides its paths: length, xid, type, zxid and three counts
/// are 32. The rest is spare.
constexpr std::size_t request_envelope = 64;
/// How long after its timeout a session that is refused counts as lost: a leader expires it
/// late, by up to a tick, and two passes over the servers come after this. Longer keeps the client
/// without a session for longer; shorter may give up one that is alive.
constexpr std::chrono::seconds refusal_margin{1};
} // namespace

core::core(asio::any_io_executor io, world outside, std::vector<native::server_address> servers,
           std::string root, client_options options)
    : client_base(std::move(io), std::move(outside.env), outside.clock, options.log)
    , make_calls_(std::move(outside.make_calls))
    , process_(std::move(outside.process))
    , first_servers_(std::move(servers))
    , servers_(first_servers_)
    , root_(std::move(root))
    , options_(std::move(options))
    , lease_({env(), clock(), dispatcher_, log(), losses(),
              [this](boot_clock::time_point since) { on_silence(since); },
              [this] { on_server_answers(); }},
             options_.lease)
    , dispatcher_(env(),
                  {options_.budgets.requests_in_flight, options_.budgets.request_bytes_in_flight,
                   std::min(batch::most_bytes, options_.max_request_bytes)},
                  lease_)
    , watches_(dispatcher_, std::min(options_.budgets.watched_path_bytes,
                                     options_.max_request_bytes - request_envelope))
    , nodes_(std::min(options_.budgets.node_path_bytes, options_.max_request_bytes))
    , own_directories_(env(), dispatcher_)
    , sweeper_(env(), dispatcher_, claims_, nodes_, own_directories_, log())
    , young_holds_(env()) {}

core::~core() { stop_pump(); }

void core::start() {
    if (!pump_ && !closed()) open_session();
}

void core::open_session() {
    pump_ = std::make_shared<native::pump>(env(), make_calls_(), pump_options(), *this);
    pump_->start();
}

native::pump_options core::pump_options() const {
    native::pump_options how{
        .servers = servers_, .session_timeout = options_.session_timeout, .auth = {}};
    for (const auto& credentials : options_.auth)
        how.auth.push_back({"digest", credentials.user + ':' + credentials.password});
    return how;
}

void core::stop_pump() noexcept {
    // close() completes open requests from within; their callbacks may use the pump.
    if (pump_) pump_->close();
    pump_.reset();
    recovery_.reset();
}

void core::listen(std::weak_ptr<session_listener> listener) {
    if (listeners_.size() >= tidy_listeners_at_) {
        std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
        // When they have doubled, so that a tidying costs each listen() the same on average.
        tidy_listeners_at_ = 2 * listeners_.size() + fewest_tidied;
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
    dismiss_scout();
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
    own_directories_.on_connected();
    tell_recovery();
    tell_timeout();
    notify([](session_listener& listener) { listener.on_connected(); });
    dispatcher_.start_sending();
}

void core::on_disconnected() noexcept {
    suspended_since_ = env().now();
    recovery_.reset();
    set_state(client_state::suspended);
    lease_.on_suspended();
    sweeper_.on_suspended();
    own_directories_.on_suspended();
    notify([](session_listener& listener) { listener.on_suspended(); });
    dispatcher_.disconnect();
}

void core::on_session_ended(error_code why) noexcept {
    // Not from within the pump's own turn: it is about to be destroyed.
    env().post([self = shared_from_this(), why] {
        if (self->closed()) return;
        if (why != errc::session_expired) return self->close(why);
        self->trouble(log_code::session_expired,
                      "the session has expired: its last answered request was sent " +
                          in_words(self->env().now() - self->lease_.last_touch()) +
                          " ago (session timeout: " + in_words(self->session_timeout()) +
                          "). Its locks are lost, and the client opens a new session");
        self->next_epoch();
    });
}

void core::next_epoch() {
    dismiss_scout();
    session_.store(0, std::memory_order_release);
    timeout_.store(0, std::memory_order_release);
    set_state(client_state::expired);
    lease_.end();
    dispatcher_.end_session();
    stop_pump();
    sweeper_.on_session_ended();
    own_directories_.on_session_ended();
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
    dismiss_scout();
    begin_close(why);
    session_.store(0, std::memory_order_release);
    timeout_.store(0, std::memory_order_release);
    set_state(client_state::closed);
    lease_.end();
    dispatcher_.close();
    watches_.close(why);
    nodes_.close();
    young_holds_.clear();
    recovery_.reset();
    // The nodes in a key's directory, before the directory.
    for (const auto& deletes : sweeper_.unanswered_keyed())
        send_last(deletes);
    notify([why](session_listener& listener) { listener.on_closed(why); });
    for (const auto& deletes : own_directories_.close())
        send_last(deletes);
    sweeper_.on_session_ended(why);
    end_holds();
    state_waiters_.clear();
    if (!pump_) return end();
    pump_->end_session([self = shared_from_this()] { self->on_pump_ended(); });
}

/// The client has seen a transaction that the servers do not have, or they do not serve yet. As
/// long as the session may be alive a server may catch up with it. Later a scout asks whether they
/// open other sessions; servers without a quorum refuse those, too. A pass over all servers that
/// began behind that answer, and is refused again, shows that they have lost this session: unless
/// the network breaks connections, for which handshakes end in the same way. So the scout's own
/// connection must have lasted.
void core::on_refused() noexcept {
    const auto lost_at = suspended_since_ + session_timeout() + refusal_margin;
    if (state() != client_state::suspended || env().now() < lost_at) return;
    constexpr int passes = 2; // the first one may have begun before
    if (scout_ && serve_others_since_ && ++refusals_since_ >= passes &&
        env().now() - *serve_others_since_ >= native::pump::steady_after)
        return give_session_up();
    if (scout_) return;
    serve_others_since_.reset();
    scout_ = std::make_unique<scout>(env(), make_calls_(), pump_options(), [this](scout_news news) {
        serve_others_since_.reset();
        refusals_since_ = 0;
        if (news == scout_news::ended) scout_.reset(); // the next refusal sends another
        if (news != scout_news::served) return;
        serve_others_since_ = env().now();
        if (pump_) pump_->retry_now();
    });
}

/// Not from within the pump's own turn: it is about to be destroyed.
void core::give_session_up() {
    env().post([self = shared_from_this()] {
        if (self->closed() || self->state() != client_state::suspended) return;
        if (!self->serve_others_since_) return;
        // The tokens are a matter of safety: this line is never left out.
        self->log().write_now(
            log_code::data_lost,
            "the servers open new sessions, but have refused this one for longer than its timeout: "
            "their data is older than what it has seen (lost, or restored from a backup). Its "
            "locks are lost, and the client opens a new session. The fencing tokens of new holds "
            "may be smaller than earlier ones: a store refuses them until its own tokens are "
            "reset");
        self->next_epoch();
    });
}

void core::dismiss_scout() {
    serve_others_since_.reset();
    if (!scout_) return;
    scout_->end([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->scout_.reset();
    });
}

void core::send_last(const request& what) {
    if (!pump_) return;
    pump_->submit([&](native::calls& table) {
        return detail::send(as_sent(what), table, native::on_reply([](const native::reply&) {}));
    });
}

void core::on_pump_ended() {
    pump_.reset();
    end();
}

void core::set_servers(std::vector<native::server_address> servers) {
    servers_ = std::move(servers);
    dismiss_scout();
    if (pump_) pump_->set_servers(servers_);
}

void core::on_silence(boot_clock::time_point since) {
    if (!pump_) return;
    const bool others = pump_->known_servers() > 1;
    const auto what = "the server " + pump_->server() + (others ? "" : ", the only known one,") +
                      " has not answered for " + in_words(env().now() - since) + ": " +
                      (others ? "looking for another; " : "") + "check its load and the network";
    outage_.trouble(since, trouble(log_code::silent_server, what));
    pump_->suspect_server();
}

void core::tell_over_budget(std::string_view path) {
    trouble(log_code::over_budget,
            "there is no room for a node of the lock " + std::string(path) +
                ": the nodes of this client's locks use client_budgets::node_path_bytes up. Calls "
                "wait for releases, or give up. Raise it, or use several clients",
            path);
}

void core::on_server_answers() noexcept {
    log().write_recovery("the server " + pump_->server() + " answers", outage_, env().now());
}

/// A connection that breaks as the ones before it is not the end of the trouble.
void core::tell_recovery() noexcept {
    recovery_.reset();
    if (!pump_->unsteady()) return on_server_answers();
    recovery_ = env().make_timer();
    recovery_->arm(env().now() + native::pump::steady_after, [this] { on_server_answers(); });
}

void core::on_trouble(log_code code, std::string_view what) noexcept {
    const bool written = trouble(code, what);
    // One name of several does no harm.
    if (code == log_code::unresolved_name && pump_ && pump_->known_servers() > 0) return;
    const auto since = state() == client_state::suspended ? suspended_since_ : env().now();
    outage_.trouble(since, written);
}

/// Once for each value.
void core::tell_timeout() noexcept {
    if (session_timeout() == options_.session_timeout || session_timeout() == told_timeout_) return;
    told_timeout_ = session_timeout();
    trouble(log_code::session_timeout,
            "the servers grant a session timeout of " + in_words(session_timeout()) +
                " instead of the requested " + in_words(options_.session_timeout) +
                ": their minSessionTimeout and maxSessionTimeout are the limits");
}

void core::drop_connections() noexcept {
    stop_pump();
    scout_.reset();
    services_.clear();
}

} // namespace paddock::detail
