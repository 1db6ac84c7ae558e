#include "native/pump.hpp"
#include "native/pump_turn_scope.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paddock::native {

namespace {

using namespace std::chrono_literals;

/// Others share the event loop: more hold it for longer, fewer cost more turns for a burst.
constexpr int packets_per_turn = 64;
/// A packet of a megabyte, the servers' usual limit, arrives in some 725 segments of 1448 bytes.
constexpr int max_empty_reads = 1000;
/// Between two reads then: a large packet still gets through, and the event loop hardly notices.
constexpr auto throttle_interval = 10ms;
/// The C client's clock and ours round differently, and its timeouts are in milliseconds.
constexpr auto rounding = 1ms;
/// The same for a turn that was late: rather probe too early than let interest() close first.
constexpr auto probe_slack = 20ms;
// However long the session timeout is:
/// Of a turn that was not stalled. More takes a stall for the server's silence, less probes often.
constexpr std::chrono::milliseconds longest_lateness = 100ms;
/// A trade: less can break the connection in the middle of a packet, more leaves it dead for
/// longer.
constexpr std::chrono::milliseconds longest_throttling = 30s;
/// A server that has answered nothing by then is dead, or too slow to be worth more waiting.
constexpr std::chrono::milliseconds longest_probe = 10s;

} // namespace

/// Posted behind the user's tasks, so that one turn sends all requests that they make.
void pump::schedule_turn() {
    if (stopped() || std::exchange(turn_scheduled_, true)) return;
    env_.post_behind([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->turn_scheduled_ = false;
        self->turn();
    });
}

/// If sending a request fails, the C client closes the connection at once, without an event.
void pump::after_submit() {
    if (calls_->state() == state::not_connected) poisoned_ = true;
    if (poisoned_ || !in_turn_) schedule_turn(); // else the present turn does it
}

/// Completes the answers now and leaves the rest to a scheduled turn, so that the requests that
/// their handlers make leave with that turn.
void pump::on_socket_ready(unsigned events) {
    if (stopped()) return;
    const turn_scope scope(*this);
    if (!poisoned_) drain(events, env_.now());
    schedule_turn();
}

void pump::turn() {
    if (stopped() || !open_) return;
    const turn_scope scope(*this);
    const auto now = env_.now();
    const auto events = std::exchange(pending_events_, 0U) | overdue_events(now);
    if (events != 0 && !poisoned_) drain(events, now);
    if (!stopped()) user_.on_sending();
    calls_->flush(); // before the rest of the turn delays the requests
    if (granted_nothing_ && !stopped()) return replace_handle(now);
    if (!stopped()) release_closed();
    if (stopped()) return;
    if (rests_until_ && now >= *rests_until_) rests_until_.reset();
    if (rests_until_) return sleep_until(*rests_until_);
    if (poisoned_) purge(now);
    if (!stopped()) give_up_slow_attempt(now);
    if (!stopped() && !poisoned_ && !probe_instead(now)) follow_interest(now);
}

/// interest() closes a connection that was silent for too long. If the event loop ran late, the
/// server may have answered in time, so the turn reads the socket first.
unsigned pump::overdue_events(boot_clock::time_point now) {
    stalled_ = false;
    if (!wakes_at_ || now < *wakes_at_) return 0;
    // A twentieth of the timeout costs nothing yet: the C client pings after a third of it.
    stalled_ = now - *wakes_at_ > std::min(session_timeout_ / 20, longest_lateness);
    if (stalled_) attempts_.restart_phase(now);
    const int at = calls_->state();
    return at == state::associating || at == state::connected ? event::readable : 0U;
}

/// process() takes one packet at a time. While the C client connects the socket, only the writable
/// event counts: with the readable event it would leak a buffer.
void pump::drain(unsigned events, boot_clock::time_point now) {
    if (attempts_.in_progress()) attempts_.observe(calls_->phase(), now);
    if (calls_->state() == state::connecting) events = event::writable;
    for (int packets = 0; packets < packets_per_turn; ++packets) {
        const int rc = calls_->process(events);
        if (stopped() || poisoned_ || granted_nothing_) return;
        if (rc == code::nothing && packets == 0) return no_packet_read(now);
        if (rc != code::ok || (events & event::readable) == 0) return;
        last_packet_ = now;
        empty_reads_ = 0;
        throttled_since_.reset();
        events = event::readable;
    }
    pending_events_ |= event::readable;
    schedule_turn();
}

/// A large packet arrives in many pieces. But after an invalid packet length the C client never
/// reads its socket, which stays readable, and the event loop would spin. So after many reads
/// without a packet the pump reads less often, and after a while, at most a third of the session
/// timeout, it breaks the connection. The C client notices that only when a send fails: hence the
/// probe.
void pump::no_packet_read(boot_clock::time_point now) {
    if (++empty_reads_ < max_empty_reads || !up_) return;
    if (!throttled_since_) throttled_since_ = now;
    if (now - *throttled_since_ <= std::min(session_timeout_ / 3, longest_throttling)) return;
    calls_->break_connection();
    send_probe();
}

/// The C client has closed the connection without an event, and kept its requests. On its next
/// connection it would continue in the middle of a request, or execute requests and mismatch their
/// answers. So the pump breaks that connection as soon as it exists, which fails all of them.
void pump::purge(boot_clock::time_point now) {
    report_down();
    if (!stopped()) release_connection();
    if (stopped()) return;
    const interest_result next = calls_->interest();
    if (stopped()) return;
    if (next.rc == code::ok && !next.connection.valid())
        return schedule_turn(); // see next_interest
    if (next.rc == code::system_error || next.rc == code::bad_arguments)
        return sleep_until(now + failure_delay_.next(env_));
    poisoned_ = false; // any other error has failed them already
    if (next.rc == code::ok) break_and_process();
}

void pump::give_up_slow_attempt(boot_clock::time_point now) {
    if (!attempts_.in_progress()) return;
    attempts_.observe(calls_->phase(), now);
    const auto deadline = attempts_.deadline();
    if (!deadline || now < *deadline) return;
    attempts_.give_up();
    break_and_process();
}

/// After a stall interest() would close the connection, although the stall kept the pings back,
/// too. So the pump sends a request first, and gives the server a moment to answer.
bool pump::probe_instead(boot_clock::time_point now) {
    if (probing_until_ && (last_packet_ >= now || now >= *probing_until_)) {
        probing_until_.reset();
        return false;
    }
    if (!probing_until_) {
        // interest() closes after 2/3 of the timeout; of the last third the server gets a half.
        const auto silence = now - last_packet_ + probe_slack;
        if (!stalled_ || !ready() || silence < session_timeout_ * 2 / 3) return false;
        probing_until_ = now + std::min(session_timeout_ / 6, longest_probe);
        send_probe();
    }
    if (poisoned_) return true; // the next turn purges
    wait_for(event::readable);
    sleep_until(*probing_until_);
    return true;
}

void pump::follow_interest(boot_clock::time_point now) {
    release_closed();
    if (stopped()) return;
    if (rests_until_) return sleep_until(*rests_until_);
    const interest_result wanted = next_interest();
    if (stopped()) return;
    if (rests_until_) return sleep_until(*rests_until_);
    if (wanted.rc != code::ok) return sleep_until(now + failure_delay_.next(env_));
    if (wanted.connection != connection_) {
        release_connection();
        if (stopped() || (wanted.connection.valid() && !adopt(wanted.connection, now))) return;
    }
    wait_for(wanted.events);
    auto until = now + wanted.timeout + rounding;
    if (attempts_.in_progress()) attempts_.observe(calls_->phase(), now);
    if (const auto deadline = attempts_.deadline()) until = std::min(until, *deadline);
    if (throttled_since_) until = std::min<boot_clock::time_point>(until, now + throttle_interval);
    sleep_until(until);
}

/// Calls interest(). An error means that a connection, or an attempt, has failed: the call is
/// repeated for the next server, until all have been tried. Behind the last server of its list the
/// C client wants a pause of a sixtieth of the session timeout, which the next call ends: the pump
/// has pauses of its own.
interest_result pump::next_interest() {
    interest_result wanted;
    // Besides one per server: the copy that makes an even list odd, the call behind the last one,
    // and the one that reports the loss of the connection before.
    for (std::size_t tries = 0; tries < known_.size() + 3 && !rests_until_; ++tries) {
        apply_new_servers();
        const bool attempt = !up_ && !attempts_.in_progress();
        wanted = calls_->interest();
        if (stopped() || (wanted.rc == code::ok && wanted.connection.valid())) return wanted;
        if (wanted.rc == code::ok) continue;
        if (wanted.rc == code::invalid_state) {
            on_session_event(calls_->state());
            return wanted;
        }
        if (wanted.rc == code::operation_timeout) attempts_.give_up();
        release_connection();
        if (attempt && !stopped()) attempt_failed();
        // The C client could not send a ping, and would report only that again and again.
        if (!stopped() && calls_->state() == state::connected) break_and_process();
        if (stopped() || wanted.rc == code::system_error || wanted.rc == code::bad_arguments)
            return wanted;
    }
    return wanted;
}

/// False if no file descriptor is left.
bool pump::adopt(descriptor connection, boot_clock::time_point now) {
    try {
        readiness_ = env_.make_readiness(connection);
    } catch (const std::exception& error) {
        user_.on_trouble(log_code::no_descriptor,
                         std::string("cannot wait for the connection: ") + error.what() +
                             ": raise the limit of open files; still trying");
        if (!stopped()) break_and_process();
        if (!stopped()) sleep_until(now + failure_delay_.next(env_));
        return false;
    }
    connection_ = connection;
    adopted_at_ = now; // the time of the turn, from before interest() opened the socket
    has_session_ = false;
    empty_reads_ = 0;
    throttled_since_.reset();
    attempts_.begin(calls_->server(), now);
    return true;
}

/// The server hears of the end only when both descriptors are closed.
void pump::release_closed() {
    const int at = calls_->state();
    if (connection_.valid() && (at == state::idle || at == state::not_connected))
        release_connection();
}

void pump::release_connection() {
    readiness_.reset();
    connection_ = {};
    reading_ = writing_ = dropping_connection_ = false;
    if (attempts_.in_progress()) attempt_failed();
}

void pump::wait_for(unsigned events) {
    if (!readiness_) return;
    const bool read_later = throttled_since_ || (pending_events_ & event::readable) != 0;
    if ((events & event::readable) != 0 && !reading_ && !read_later) {
        reading_ = true;
        readiness_->wait_readable([this] {
            reading_ = false;
            on_socket_ready(event::readable);
        });
    }
    if ((events & event::writable) != 0 && !writing_) {
        writing_ = true;
        readiness_->wait_writable([this] {
            writing_ = false;
            on_socket_ready(event::writable);
        });
    }
}

void pump::break_and_process() {
    calls_->break_connection();
    calls_->process(event::readable | event::writable);
}

void pump::send_probe() {
    calls_->exists(known_node, false, on_reply([](const reply&) {}));
    after_submit();
}

void pump::sleep_until(boot_clock::time_point when) {
    wakes_at_ = when;
    timer_->arm(when, [this] { turn(); });
}

} // namespace paddock::native
