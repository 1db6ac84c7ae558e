#include "native/pump.hpp"
#include "native/pump_turn_scope.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paddock::native {

namespace {

using namespace std::chrono_literals;

constexpr int packets_per_turn = 64;    // others share the event loop
constexpr int nothing_too_often = 1000; // a packet of a megabyte comes in pieces, too
constexpr auto crawl = 10ms;

} // namespace

/// Behind what the user wants to do first: that is sent at once then, and needs no turn of its own.
void pump::kick() {
    if (stopped() || std::exchange(kicked_, true)) return;
    env_.post_behind([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->kicked_ = false;
        self->turn();
    });
}

/// When a request cannot be sent the C client closes the connection at once, and tells nobody.
void pump::after_submit() {
    if (calls_->state() == state::not_connected) poisoned_ = true;
    if (poisoned_ || !in_turn_) kick(); // else the turn sees to it anyway
}

/// Whoever is told something may have to ask for something: the rest of the turn waits for that.
void pump::hear(unsigned events) {
    if (stopped()) return;
    const turn_scope scope(*this);
    if (!poisoned_) drain(events, env_.now());
    kick();
}

void pump::turn() {
    if (stopped() || !open_) return;
    const turn_scope scope(*this);
    const auto now = env_.now();
    const auto events = std::exchange(more_, 0U) | overdue_events(now);
    if (events != 0 && !poisoned_) drain(events, now);
    calls_->flush(); // early: what follows takes its time
    if (poisoned_ && !stopped()) purge(now);
    if (!stopped()) give_up_slow_attempt(now);
    if (!stopped() && !poisoned_ && !probe_instead(now)) settle(now);
}

/// interest() gives up a connection that was silent for too long. If the event loop was late, that
/// is its own fault, and what was said meanwhile has to be read first.
unsigned pump::overdue_events(boot_clock::time_point now) {
    stalled_ = false;
    if (!wakes_at_ || now < *wakes_at_) return 0;
    stalled_ = now - *wakes_at_ > session_timeout_ / 20;
    if (stalled_) attempts_.excuse(now);
    const int at = calls_->state();
    return at == state::associating || at == state::connected ? event::readable : 0U;
}

/// One packet at a time is what process() takes. While the C client connects it only wants to know
/// how that has ended: if it is told to read then, it loses a buffer.
void pump::drain(unsigned events, boot_clock::time_point now) {
    if (calls_->state() == state::connecting) events = event::writable;
    for (int packets = 0; packets < packets_per_turn; ++packets) {
        const int rc = calls_->process(events);
        if (stopped() || poisoned_) return;
        if (rc == code::nothing && packets == 0) return heard_nothing(now);
        if (rc != code::ok || (events & event::readable) == 0) return;
        last_heard_ = now;
        nothing_ = 0;
        crawling_since_.reset();
        events = event::readable;
    }
    more_ |= event::readable;
    kick();
}

/// A large packet arrives in many pieces. But a length that makes no sense leaves the C client with
/// a socket that stays readable, and that it never reads: then this would spin. So first the pieces
/// are taken more slowly, and after a while the connection is given up. Only a failing send makes
/// the C client notice that.
void pump::heard_nothing(boot_clock::time_point now) {
    if (++nothing_ < nothing_too_often || !up_) return;
    if (!crawling_since_) crawling_since_ = now;
    if (now - *crawling_since_ <= session_timeout_ / 3) return;
    calls_->break_connection();
    send_probe();
}

/// The C client has closed the connection silently, and kept its requests. On its next connection
/// it would go on in the middle of one, or have requests executed and their answers mistaken. So
/// that connection is broken as soon as it exists, which makes all of them fail.
void pump::purge(boot_clock::time_point now) {
    report_down();
    if (!stopped()) let_go();
    if (stopped()) return;
    const wish next = calls_->interest();
    if (stopped()) return;
    if (next.rc == code::ok && !next.connection.valid()) return sleep_until(now + next.timeout);
    if (next.rc == code::system_error || next.rc == code::bad_arguments)
        return sleep_until(now + failure_delay_.next(env_));
    poisoned_ = false; // any other error has made them fail already
    if (next.rc == code::ok) break_and_notice();
}

void pump::give_up_slow_attempt(boot_clock::time_point now) {
    if (!attempts_.under_way()) return;
    attempts_.observe(calls_->state(), now);
    const auto deadline = attempts_.deadline(session_timeout_);
    if (deadline && now >= *deadline) break_and_notice();
}

/// After a stall interest() would give up a connection although the server was never asked
/// anything: the pings did not go out either. So it is asked now, and has a moment to answer.
bool pump::probe_instead(boot_clock::time_point now) {
    if (probing_until_ && (last_heard_ >= now || now >= *probing_until_)) {
        probing_until_.reset();
        return false;
    }
    if (!probing_until_) {
        const auto silence = now - last_heard_ + 20ms;
        if (!stalled_ || !ready() || silence < session_timeout_ * 2 / 3) return false;
        probing_until_ = now + session_timeout_ / 6;
        send_probe();
    }
    if (poisoned_) return true; // the next turn sees to it
    listen(event::readable);
    sleep_until(*probing_until_);
    return true;
}

void pump::settle(boot_clock::time_point now) {
    const int at = calls_->state();
    if (connection_.valid() && (at == state::idle || at == state::not_connected)) let_go();
    if (stopped()) return;
    apply_new_servers();
    const wish wanted = ask();
    if (stopped()) return;
    if (wanted.rc != code::ok) return sleep_until(now + failure_delay_.next(env_));
    if (wanted.connection != connection_) {
        let_go();
        if (stopped() || (wanted.connection.valid() && !adopt(wanted.connection, now))) return;
    }
    listen(wanted.events);
    auto until = now + wanted.timeout + 1ms; // the C client's clock and ours round differently
    if (attempts_.under_way()) attempts_.observe(calls_->state(), now);
    if (const auto deadline = attempts_.deadline(session_timeout_))
        until = std::min(until, *deadline);
    if (crawling_since_) until = std::min<boot_clock::time_point>(until, now + crawl);
    sleep_until(until);
}

/// What the C client wants. Its errors mean that a connection, or an attempt, has failed: it is
/// asked again, for the next server, but not more often than there are servers.
wish pump::ask() {
    wish wanted;
    for (std::size_t tries = 0; tries < known_.size() + 2; ++tries) {
        const bool attempt = !up_ && !attempts_.under_way();
        wanted = calls_->interest();
        if (stopped() || wanted.rc == code::ok) return wanted;
        if (wanted.rc == code::invalid_state) {
            on_session_event(calls_->state());
            return wanted;
        }
        let_go();
        if (attempt && !stopped()) attempt_failed();
        // A ping that could not be sent: the C client would only say so again and again.
        if (!stopped() && calls_->state() == state::connected) break_and_notice();
        if (stopped() || wanted.rc == code::system_error || wanted.rc == code::bad_arguments)
            return wanted;
    }
    return wanted;
}

/// False if there are no file descriptors left.
bool pump::adopt(descriptor connection, boot_clock::time_point now) {
    try {
        readiness_ = env_.make_readiness(connection);
    } catch (const std::exception& error) {
        user_.on_trouble(std::string("cannot wait for the connection: ") + error.what());
        if (!stopped()) break_and_notice();
        if (!stopped()) sleep_until(now + failure_delay_.next(env_));
        return false;
    }
    connection_ = connection;
    adopted_at_ = now; // before it was opened
    nothing_ = 0;
    crawling_since_.reset();
    attempts_.begin(now);
    return true;
}

void pump::let_go() {
    readiness_.reset();
    connection_ = {};
    reading_ = writing_ = dropping_ = false;
    if (attempts_.under_way()) attempt_failed();
}

void pump::listen(unsigned events) {
    if (!readiness_) return;
    const bool read_later = crawling_since_ || (more_ & event::readable) != 0;
    if ((events & event::readable) != 0 && !reading_ && !read_later) {
        reading_ = true;
        readiness_->wait_readable([this] {
            reading_ = false;
            hear(event::readable);
        });
    }
    if ((events & event::writable) != 0 && !writing_) {
        writing_ = true;
        readiness_->wait_writable([this] {
            writing_ = false;
            hear(event::writable);
        });
    }
}

void pump::break_and_notice() {
    calls_->break_connection();
    calls_->process(event::readable | event::writable);
}

void pump::send_probe() {
    calls_->exists("/", false, on_reply([](const reply&) {}));
    after_submit();
}

void pump::sleep_until(boot_clock::time_point when) {
    wakes_at_ = when;
    timer_->arm(when, [this] { turn(); });
}

} // namespace paddock::native
