#include "session/session_keeper.hpp"

#include <utility>

namespace paddock::detail {

namespace {
/// How long after its timeout a session that is refused counts as lost: a leader expires it
/// late, by up to a tick, and two passes over the servers come after this. Longer keeps the client
/// without a session for longer; shorter may give up one that is alive.
constexpr std::chrono::seconds refusal_margin{1};
} // namespace

session_keeper::session_keeper(asio::any_io_executor io, world outside,
                               std::vector<native::server_address> servers, std::string root,
                               client_options options)
    : core(std::move(io), std::move(outside.env), outside.clock, std::move(outside.process),
           servers, std::move(root), std::move(options))
    , make_calls_(std::move(outside.make_calls))
    , servers_(std::move(servers)) {}

session_keeper::~session_keeper() { stop_pump(); }

void session_keeper::start() {
    if (pump_ || closed()) return;
    begin_connecting();
    open_session();
}

void session_keeper::open_session() {
    pump_ = std::make_shared<native::pump>(env(), make_calls_(), pump_options(), *this);
    pump_->start();
}

native::pump_options session_keeper::pump_options() const {
    native::pump_options how{.servers = servers_,
                             .session_timeout = options().session_timeout,
                             .auth = {},
                             .tls = options().tls};
    for (const auto& credentials : options().auth)
        how.auth.push_back({"digest", credentials.user + ':' + credentials.password});
    return how;
}

void session_keeper::stop_pump() noexcept {
    // close() completes open requests from within; their callbacks may use the pump.
    if (pump_) pump_->close();
    pump_.reset();
    recovery_.reset();
}

void session_keeper::on_connected(std::uint64_t) noexcept {
    dismiss_scout();
    const bool new_session = set_session(pump_->session_id(), pump_->session_timeout());
    set_server(pump_->server());
    dispatcher().connect(*pump_);
    lease().on_connected(new_session, pump_->connected_since(), session_timeout());
    set_state(client_state::connected);
    sweeper().on_connected(session_timeout());
    own_directories().on_connected();
    tell_recovery();
    tell_timeout();
    notify([](session_listener& listener) { listener.on_connected(); });
    dispatcher().start_sending();
}

void session_keeper::on_disconnected() noexcept {
    suspended_since_ = env().now();
    lost_connection();
    recovery_.reset();
    set_server({});
    set_state(client_state::suspended);
    lease().on_suspended();
    sweeper().on_suspended();
    own_directories().on_suspended();
    notify([](session_listener& listener) { listener.on_suspended(); });
    dispatcher().disconnect();
}

void session_keeper::on_session_ended(error_code why) noexcept {
    // Not from within the pump's own turn: it is about to be destroyed.
    env().post([self = self(), why] {
        if (self->closed()) return;
        if (why != errc::session_expired) return self->close(why);
        self->trouble(log_code::session_expired,
                      "the session has expired: its last answered request was sent " +
                          in_words(self->env().now() - self->lease().last_touch()) +
                          " ago (session timeout: " + in_words(self->session_timeout()) +
                          "). Its locks are lost, and the client opens a new session");
        self->next_epoch();
    });
}

void session_keeper::next_epoch() {
    dismiss_scout();
    no_session();
    set_server({});
    set_state(client_state::expired);
    lease().end();
    dispatcher().end_session();
    stop_pump();
    sweeper().on_session_ended();
    own_directories().on_session_ended();
    watches().end_session(errc::session_expired);
    notify([](session_listener& listener) { listener.on_expired(); });
    if (closed()) return;
    set_state(client_state::connecting);
    open_session();
}

void session_keeper::on_watch(native::watch_type type, std::string_view path) noexcept {
    watches().on_event(type, path);
}

void session_keeper::close(error_code why) {
    if (closed()) return;
    dismiss_scout();
    begin_close(why);
    no_session();
    set_server({});
    set_state(client_state::closed);
    lease().end();
    dispatcher().close();
    watches().close(why);
    node_budget().close();
    young_holds().clear();
    recovery_.reset();
    // The nodes in a key's directory, before the directory.
    for (const auto& deletes : sweeper().unanswered_keyed())
        send_last(deletes);
    notify([why](session_listener& listener) { listener.on_closed(why); });
    for (const auto& deletes : own_directories().close())
        send_last(deletes);
    sweeper().on_session_ended(why);
    end_holds();
    drop_state_waiters();
    if (!pump_) return end();
    pump_->end_session([self = self()] { self->on_pump_ended(); });
}

/// The client has seen a transaction that the servers do not have, or they do not serve yet. As
/// long as the session may be alive a server may catch up with it. Later a scout asks whether they
/// open other sessions; servers without a quorum refuse those, too. A pass over all servers that
/// began behind that answer, and is refused again, shows that they have lost this session: unless
/// the network breaks connections, for which handshakes end in the same way. So the scout's own
/// connection must have lasted.
void session_keeper::on_refused() noexcept {
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
void session_keeper::give_session_up() {
    env().post([self = self()] {
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

void session_keeper::dismiss_scout() {
    serve_others_since_.reset();
    if (!scout_) return;
    scout_->end([weak = std::weak_ptr(self())] {
        if (const auto self = weak.lock()) self->scout_.reset();
    });
}

void session_keeper::send_last(const request& what) {
    if (!pump_) return;
    pump_->submit([&](native::calls& table) {
        return detail::send(as_sent(what), table, native::on_reply([](const native::reply&) {}));
    });
}

void session_keeper::on_pump_ended() {
    pump_.reset();
    end();
}

void session_keeper::set_servers(std::vector<native::server_address> servers) {
    servers_ = std::move(servers);
    dismiss_scout();
    if (pump_) pump_->set_servers(servers_);
}

void session_keeper::on_silence(boot_clock::time_point since) {
    if (!pump_) return;
    const bool others = pump_->known_servers() > 1;
    const auto what = "the server " + pump_->server() + (others ? "" : ", the only known one,") +
                      " has not answered for " + in_words(env().now() - since) + ": " +
                      (others ? "looking for another; " : "") + "check its load and the network";
    outage_.trouble(since, trouble(log_code::silent_server, what));
    pump_->suspect_server();
}

void session_keeper::tell_server_answers() noexcept {
    log().write_recovery("the server " + pump_->server() + " answers", outage_, env().now());
}

/// A connection that breaks as the ones before it is not the end of the trouble.
void session_keeper::tell_recovery() noexcept {
    recovery_.reset();
    if (!pump_->unsteady()) return tell_server_answers();
    recovery_ = env().make_timer();
    recovery_->arm(env().now() + native::pump::steady_after, [this] { tell_server_answers(); });
}

void session_keeper::on_trouble(log_code code, std::string_view what) noexcept {
    const bool written = trouble(code, what);
    // One name of several does no harm.
    if (code == log_code::unresolved_name && pump_ && pump_->known_servers() > 0) return;
    const auto since = state() == client_state::suspended ? suspended_since_ : env().now();
    outage_.trouble(since, written);
}

/// Once for each value.
void session_keeper::tell_timeout() noexcept {
    if (session_timeout() == options().session_timeout || session_timeout() == told_timeout_)
        return;
    told_timeout_ = session_timeout();
    trouble(log_code::session_timeout,
            "the servers grant a session timeout of " + in_words(session_timeout()) +
                " instead of the requested " + in_words(options().session_timeout) +
                ": their minSessionTimeout and maxSessionTimeout are the limits");
}

void session_keeper::drop_connections() noexcept {
    stop_pump();
    scout_.reset();
    drop_services();
}

} // namespace paddock::detail
