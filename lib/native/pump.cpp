#include "native/pump.hpp"

#include "native/c_error_line.hpp"
#include "native/pump_turn_scope.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paddock::native {

namespace {

/// Names, or addresses with ports.
template <typename Names>
std::string joined(const Names& parts) {
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text += ", ";
        text += with_brackets(part);
    }
    return text;
}

} // namespace

pump::pump(environment& env, std::unique_ptr<calls> table, pump_options options, pump_user& user)
    : env_(env)
    , calls_(std::move(table))
    , options_(std::move(options))
    , user_(user)
    , servers_(env, options_.servers)
    , lookup_timer_(env.make_timer())
    , timer_(env.make_timer())
    , session_timeout_(options_.session_timeout) {
    if (options_.tls)
        calls_->encrypt({env_, options_.tls, [this](auto& endpoint) { return hosts_[endpoint]; }});
}

std::string pump::server() const { return with_brackets(attempts_.server()); }

pump::~pump() {
    closing_ = true;
    on_ended_ = {};
    finish_close();
}

void pump::start() {
    env_.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look_up();
    });
}

void pump::look_up() {
    if (stopped() || servers_.in_progress()) return;
    servers_.look_up([this](const server_endpoints& known) { servers_looked_up(known); });
}

void pump::servers_looked_up(const server_endpoints& known) {
    if (stopped()) return;
    const turn_scope scope(*this);
    for (const auto& endpoint : known.found)
        hosts_[endpoint] = servers_.host_of(endpoint);
    if (!known.found.empty() && open_)
        update_servers(known.found);
    else if (!known.found.empty())
        open(known.found);
    if (!known.unresolved.empty() && !stopped())
        user_.on_trouble(
            log_code::unresolved_name,
            "cannot resolve " + joined(known.unresolved) +
                ": check the server list and the name service" +
                (known.found.empty() ? "; still trying" : ". The other servers are used"));
    if (known.complete && !stopped()) {
        leave_unlisted();
        arm_lookup_timer();
    }
    schedule_turn();
}

/// The C client keeps its present list until an attempt, or a connection, has ended.
void pump::update_servers(const std::vector<std::string>& endpoints) {
    if (endpoints == (new_known_ ? *new_known_ : known_)) return;
    new_known_ = endpoints;
    attempts_.expect_list();
    rests_until_.reset();
}

/// An attempt to connect is given up once its server has left the list.
void pump::leave_unlisted() {
    const bool leaves = std::exchange(leaves_unlisted_, false);
    const auto has = [this](const std::vector<std::string>& list) {
        return std::binary_search(list.begin(), list.end(), attempts_.server());
    };
    if (!new_known_ || !has(known_) || has(*new_known_)) return;
    if (attempts_.in_progress())
        break_and_process();
    else if (leaves)
        drop_connection();
}

void pump::set_servers(std::vector<server_address> servers) {
    if (stopped()) return;
    servers_.replace(std::move(servers));
    leaves_unlisted_ = true;
    look_up();
}

void pump::retry_now() {
    rests_until_.reset();
    schedule_turn();
}

void pump::suspect_server() {
    if (known_servers() > 1) return drop_connection();
    if (!servers_.has_names()) return;
    leaves_unlisted_ = true;
    look_up();
}

void pump::open(const std::vector<std::string>& endpoints) {
    open_ = calls_->open(connect_string(endpoints, env_), options_.session_timeout, *this);
    if (!open_) {
        user_.on_trouble(log_code::unreachable,
                         "cannot use the servers " + joined(endpoints) +
                             ": check the addresses' zones, and the limits of open files and "
                             "memory; still trying");
        return;
    }
    known_ = endpoints;
    new_known_.reset();
    attempts_.use_list(known_.size(), known_.size() | 1U);
    // First: while a request is half sent the C client would put the credentials before its rest.
    for (const auto& [scheme, credentials] : options_.auth)
        calls_->add_auth(scheme, credentials, on_reply([](const reply&) {}));
}

/// Only between two attempts: with a new list the C client abandons an attempt in progress.
void pump::apply_new_servers() {
    if (!new_known_ || up_ || attempts_.in_progress()) return;
    const auto endpoints = *std::exchange(new_known_, std::nullopt);
    if (calls_->set_servers(connect_string(endpoints, env_)) == code::ok)
        known_ = endpoints;
    else
        known_.clear(); // the next look-up sets the list again
    std::erase_if(hosts_, [&](const auto& each) {
        return !std::binary_search(endpoints.begin(), endpoints.end(), each.first);
    });
    attempts_.use_list(known_.size(), known_.size() | 1U);
}

void pump::attempt_failed() {
    const auto pass = attempts_.fail();
    if (!pass) return;
    rests_until_ = env_.now() + pass_delay_.next(env_);
    user_.on_trouble(log_code::unreachable, fault(*pass));
    if (pass->by_most && !stopped()) user_.on_refused();
}

std::string pump::fault(const failed_pass& pass) const {
    const auto heard = pass.refused.size() + pass.mute.size();
    if (heard == 0)
        return "no server of " + joined(known_) +
               (options_.tls ? " answers over TLS: check the server list, the certificates, and "
                             : " answers: check the server list and ") +
               "that the ensemble runs; still trying";
    std::string text;
    if (!pass.refused.empty())
        text = joined(pass.refused) +
               " refused the session, and closed the connection: no quorum of the ensemble runs, "
               "there are too many connections from this address (maxClientCnxns), " +
               (options_.tls ? "the server does not accept the client's certificate, "
                             : "the port expects TLS, ") +
               "or no ZooKeeper server is there (`echo srvr | nc HOST PORT` from "
               "another host says whether it serves, and nothing in the last two cases)" +
               (session_id_ != 0 ? ", or the servers' data is older than what this client has seen "
                                   "(lost, or restored from a backup)"
                                 : "") +
               "; ";
    if (!pass.mute.empty())
        text += joined(pass.mute) +
                " accepted the connection, but did not answer: a server that is stopped or "
                "overloaded, " +
                (session_id_ == 0 ? "a proxy without a server, or no ZooKeeper server at all; "
                                  : "or a proxy without a server; ");
    if (heard < known_.size()) text += "no other server of " + joined(known_) + " answers; ";
    return text + "still trying";
}

/// Without a connection the names are looked up again, with growing pauses, whatever the attempts
/// to connect do.
void pump::arm_lookup_timer() {
    if (up_ || (open_ && !servers_.has_names()) || std::exchange(lookup_timer_armed_, true)) return;
    lookup_timer_->arm(env_.now() + lookup_delay_.next(env_), [this] {
        lookup_timer_armed_ = false;
        if (!up_) look_up();
    });
}

bool pump::ready() const noexcept {
    return up_ && !dropping_connection_ && !poisoned_ && !session_ended_ && !closing_;
}

void pump::on_session_event(int new_state) noexcept {
    if (stopped()) return;
    if (new_state == state::connected && !grants_session()) {
        if (session_id_ == 0) {
            attempts_.succeed();
            granted_nothing_ = true;
            return;
        }
        new_state = state::expired; // as the C client takes an id that is not its session's
    }
    if (new_state == state::expired || new_state == state::auth_failed) {
        report_down();
        if (stopped()) return;
        session_ended_ = true;
        return user_.on_session_ended(new_state == state::expired ? errc::session_expired
                                                                  : errc::auth_failed);
    }
    report_down();
    if (new_state != state::connected || stopped()) return;
    session_id_ = calls_->session_id();
    session_timeout_ = calls_->session_timeout();
    attempts_.succeed();
    lookup_delay_.reset();
    failure_delay_.reset();
    pass_delay_.reset();
    last_packet_ = env_.now();
    up_ = has_session_ = true;
    user_.on_connected(++connections_);
}

bool pump::grants_session() const noexcept {
    return calls_->session_id() != 0 && calls_->session_timeout() > std::chrono::milliseconds(0);
}

/// The server, which is none of ZooKeeper's, has answered the handshake with a session that cannot
/// be. The C client believes it, and would ask the next server for such a one.
void pump::replace_handle(boot_clock::time_point now) {
    granted_nothing_ = false;
    user_.on_trouble(log_code::unsuitable_server,
                     "the server " + server() +
                         " cannot be used: its answer to the handshake has no session: check that "
                         "a ZooKeeper server listens there; still trying");
    if (stopped()) return;
    break_and_process(); // otherwise close() would end the session, and wait for that
    release_connection();
    calls_->close();
    open_ = poisoned_ = false;
    pending_events_ = 0;
    rests_until_ = now + pass_delay_.next(env_);
    start();
}

/// A connection that breaks as soon as it is made is not a server that is away.
void pump::note_life() {
    const auto now = env_.now();
    if (now - adopted_at_ >= steady_after) {
        short_lives_ = 0;
        largest_request_ = 0;
        return short_life_delay_.reset();
    }
    rests_until_ = now + short_life_delay_.next(env_);
    ++short_lives_;
    if (!unsteady()) return;
    user_.on_trouble(log_code::unreachable,
                     "connections to the servers, the last one to " + server() + ", have broken " +
                         std::to_string(short_lives_) + " times in a row, each within " +
                         in_words(steady_after) + ": the largest request had " +
                         std::to_string(largest_request_) +
                         " bytes, and a server does so if that exceeds its jute.maxbuffer "
                         "(1048575 by default; see client_options::max_request_bytes); or "
                         "something between the client and the server closes connections");
}

void pump::report_down() noexcept {
    dropping_connection_ = false;
    probing_until_.reset();
    if (!std::exchange(up_, false) || stopped()) return;
    note_life();
    arm_lookup_timer();
    user_.on_disconnected();
}

void pump::on_error_line(std::string_view line) noexcept {
    if (stopped()) return;
    user_.on_trouble(log_code::c_client, explained(line, has_session_));
}

void pump::on_tls_trouble(log_code code, std::string_view what) noexcept {
    if (!stopped()) user_.on_trouble(code, what);
}

void pump::on_watch(watch_type type, std::string_view path) noexcept {
    if (!stopped()) user_.on_watch(type, path);
}

void pump::drop_connection() {
    if (stopped() || !connection_.valid()) return;
    dropping_connection_ = true;
    calls_->break_connection();
    pending_events_ |= event::readable | event::writable;
    schedule_turn();
}

void pump::end_session(unique_function<void()> ended) {
    on_ended_ = std::move(ended);
    closing_ = true;
    if (!in_turn_) begin_session_end();
}

void pump::begin_session_end() {
    if (closed_) return;
    servers_.give_up();
    lookup_timer_.reset();
    timer_->cancel();
    readiness_.reset();
    connection_ = {};
    const auto keep = shared_from_this();
    end_session_step();
    if (closed_) return;
    const auto limit = std::min<boot_clock::duration>(session_timeout_, std::chrono::seconds(1));
    timer_->arm(env_.now() + limit, [this] { close(); });
}

void pump::end_session_step() {
    const interest_result next = calls_->end_session();
    if (!next.connection.valid()) return close();
    if (next.connection != connection_) {
        try {
            readiness_ = env_.make_readiness(next.connection);
        } catch (const std::exception&) {
            return close(); // no file descriptors are left
        }
        connection_ = next.connection;
    }
    const auto go_on = [this] { end_session_step(); };
    if ((next.events & event::writable) != 0)
        readiness_->wait_writable(go_on);
    else
        readiness_->wait_readable(go_on);
}

void pump::close() noexcept {
    closing_ = true;
    if (!in_turn_) finish_close();
}

void pump::finish_close() noexcept {
    if (std::exchange(closed_, true)) return;
    servers_.give_up();
    lookup_timer_.reset();
    timer_.reset();
    calls_->close();
    readiness_.reset(); // closes the last descriptor of the connection
    connection_ = {};
    if (auto call = std::exchange(on_ended_, {})) call(); // the call may destroy this
}

} // namespace paddock::native
