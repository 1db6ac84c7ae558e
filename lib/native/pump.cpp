#include "native/pump.hpp"

#include "native/pump_turn_scope.hpp"

#include <utility>

namespace paddock::native {

namespace {

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

} // namespace

pump::pump(environment& env, std::unique_ptr<calls> table, pump_options options, pump_user& user)
    : env_(env)
    , calls_(std::move(table))
    , options_(std::move(options))
    , user_(user)
    , servers_(env, options_.servers)
    , alarm_(env.make_timer())
    , timer_(env.make_timer())
    , session_timeout_(options_.session_timeout) {}

pump::~pump() {
    closing_ = true;
    finish_close();
}

void pump::start() {
    env_.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look_up();
    });
}

void pump::look_up() {
    alarm_armed_ = false;
    if (stopped() || servers_.under_way()) return;
    servers_.look_up([this](server_endpoints answer) { looked_up(std::move(answer)); });
}

void pump::looked_up(server_endpoints answer) {
    if (stopped()) return;
    const turn_scope scope(*this);
    if (!answer.unresolved.empty()) user_.on_trouble("cannot resolve " + joined(answer.unresolved));
    if (stopped()) return;
    if (answer.found.empty()) return raise_alarm();
    if (!open_)
        open(answer.found);
    else if (!up_ && answer.found != known_)
        new_known_ = std::move(answer.found);
    kick();
}

void pump::open(const std::vector<std::string>& endpoints) {
    open_ = calls_->open(connect_string(endpoints, env_), options_.session_timeout, *this);
    if (!open_) {
        user_.on_trouble("cannot use the servers " + joined(endpoints));
        return raise_alarm();
    }
    known_ = endpoints;
    attempts_.use_list(known_.size(), known_.size() | 1U);
    // Before anything else: later the C client would put them in front of a half sent request.
    for (const auto& [scheme, credentials] : options_.auth)
        calls_->add_auth(scheme, credentials, on_reply([](const reply&) {}));
}

/// Only between two attempts: the C client would drop one that is under way.
void pump::apply_new_servers() {
    if (!new_known_ || up_ || attempts_.under_way()) return;
    const auto endpoints = *std::exchange(new_known_, std::nullopt);
    if (calls_->set_servers(connect_string(endpoints, env_)) == code::ok)
        known_ = endpoints;
    else
        known_.clear(); // so that the next look-up tries again
    attempts_.use_list(known_.size(), known_.size() | 1U);
}

void pump::attempt_failed() {
    if (!attempts_.fail() || alarm_armed_) return;
    user_.on_trouble("no server answers: " + joined(known_));
    if (!stopped()) raise_alarm();
}

/// Looks the names up again, later and later. If there are none, only the next complaint waits.
void pump::raise_alarm() {
    if (alarm_armed_) return;
    alarm_armed_ = true;
    alarm_->arm(env_.now() + alarm_delay_.next(env_), [this] {
        alarm_armed_ = false;
        if (!open_ || (!up_ && servers_.has_names())) look_up();
    });
}

bool pump::ready() const noexcept { return up_ && !dropping_ && !poisoned_ && !over_ && !closing_; }

void pump::on_session_event(int new_state) noexcept {
    if (stopped()) return;
    if (new_state == state::expired || new_state == state::auth_failed) {
        report_down();
        if (stopped()) return;
        over_ = true;
        return user_.on_session_over(new_state == state::expired ? errc::session_expired
                                                                 : errc::auth_failed);
    }
    report_down();
    if (new_state != state::connected || stopped()) return;
    session_id_ = calls_->session_id();
    session_timeout_ = calls_->session_timeout();
    attempts_.succeed();
    alarm_delay_.reset();
    failure_delay_.reset();
    last_heard_ = env_.now();
    up_ = true;
    user_.on_connected(++connections_);
}

void pump::report_down() noexcept {
    dropping_ = false;
    probing_until_.reset();
    if (!std::exchange(up_, false)) return;
    if (!stopped()) user_.on_disconnected();
}

void pump::on_watch(watch_type type, std::string_view path) noexcept {
    if (!stopped()) user_.on_watch(type, path);
}

void pump::drop_connection() {
    if (stopped() || !connection_.valid()) return;
    dropping_ = true;
    calls_->break_connection();
    more_ |= event::readable | event::writable;
    kick();
}

void pump::close() noexcept {
    closing_ = true;
    if (!in_turn_) finish_close();
}

void pump::finish_close() noexcept {
    if (std::exchange(closed_, true)) return;
    alarm_.reset();
    timer_.reset();
    calls_->close();
    readiness_.reset(); // the last descriptor: now the peer sees the end
    connection_ = {};
}

} // namespace paddock::native
