#include "sim/leader.hpp"

#include "sim/ensemble.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

leader::leader(ensemble& all, server& self, int epoch)
    : all_(all), self_(self), next_zxid_((static_cast<std::int64_t>(epoch) << 32) + 1) {}

void leader::begin() {
    while (self_.applied() < self_.log().size()) {
        all_.committed(self_.applied(), self_.log()[self_.applied()]);
        self_.apply_next();
    }
    tip_ = self_.view();
    for (const auto& [session, what] : tip_.sessions())
        track(session, what.timeout);
}

/// At the end of the tick after the last one in which it may be alive.
time_point leader::expiry(std::chrono::milliseconds timeout) const {
    const auto tick = duration(all_.tick());
    const auto since = (all_.time().now() + timeout).time_since_epoch();
    return time_point((since / tick + 1) * tick);
}

void leader::track(std::int64_t session, std::chrono::milliseconds timeout) {
    sessions_[session] = {timeout, expiry(timeout)};
}

void leader::touch(std::int64_t session) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end() || it->second.closing) return;
    it->second.expires = std::max(it->second.expires, expiry(it->second.timeout));
}

std::chrono::milliseconds leader::timeout_of(std::int64_t session) const {
    const auto it = sessions_.find(session);
    return it == sessions_.end() ? std::chrono::milliseconds(0) : it->second.timeout;
}

bool leader::revalidate(std::int64_t session, int at) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end() || it->second.closing) return false;
    touch(session);
    it->second.owner = at;
    return true;
}

void leader::open_session(int origin, std::uint64_t ticket, std::int64_t session,
                          std::chrono::milliseconds timeout) {
    track(session, timeout);
    txn t{.what = txn::open_session, .session = session, .timeout = timeout};
    t.origin = origin;
    t.ticket = ticket;
    propose(std::move(t));
}

int leader::check(std::int64_t session, int origin) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end() || it->second.closing) return code::session_expired;
    if (it->second.owner < 0) it->second.owner = origin;
    return it->second.owner == origin ? code::ok : code::session_moved;
}

void leader::prepare(int origin, std::uint64_t ticket, std::int64_t session, const request& r) {
    txn t{.what = txn::error, .session = session};
    const bool known = tip_.sessions().contains(session);
    if (r.what == verb::close) {
        if (const auto it = sessions_.find(session); it != sessions_.end())
            it->second.closing = true;
        if (known) t = decide(tip_, r, session);
    } else {
        t.rc = known ? check(session, origin) : code::session_expired;
        if (t.rc == code::ok) t = decide(tip_, r, session);
        all_.count(r, t);
    }
    t.origin = origin;
    t.ticket = ticket;
    propose(std::move(t));
}

void leader::decide_for(const request& r) { propose(decide(tip_, r, 0)); }

void leader::expire(std::int64_t session) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end() || it->second.closing) return;
    it->second.closing = true;
    if (!tip_.sessions().contains(session)) return;
    all_.time().note([&] { return "session " + all_.name_of(session) + " has expired"; });
    propose(decide(tip_, {.what = verb::close}, session));
}

void leader::propose(txn t) {
    t.zxid = next_zxid_++;
    t.time = all_.wall_milliseconds();
    tip_.apply(t);
    if (t.what == txn::close_session) sessions_.erase(t.session);
    const auto shared = std::make_shared<const txn>(std::move(t));
    self_.log().push_back(shared);
    for (const auto& [number, f] : followers_)
        all_.send(self_.id, number, [shared](server& at) { at.propose(shared); });
    commit_what_can_be();
}

void leader::acknowledged(int number, std::size_t length) {
    const auto it = followers_.find(number);
    if (it == followers_.end()) return;
    it->second.acknowledged = std::max(it->second.acknowledged, length);
    it->second.heard = all_.time().now();
    commit_what_can_be();
}

/// Executes the transactions that a majority has in its log.
void leader::commit_what_can_be() {
    const auto majority = all_.majority();
    while (self_.applied() < self_.log().size()) {
        const auto next = self_.applied() + 1;
        const auto have = 1 + std::count_if(followers_.begin(), followers_.end(),
                                            [&](auto& f) { return f.second.acknowledged >= next; });
        if (have < majority) return;
        all_.committed(next - 1, self_.log()[next - 1]);
        self_.apply_next();
        for (const auto& [number, f] : followers_)
            all_.send(self_.id, number, [](server& at) { at.commit(); });
        while (!syncs_.empty() && syncs_.front().after <= next) {
            answer_sync(syncs_.front());
            syncs_.pop_front();
        }
    }
}

/// Answered behind the writes under way; without any, at once: the leader does not check that it
/// still leads.
void leader::sync(int origin, std::uint64_t ticket) {
    const waiting_sync one{self_.log().size(), origin, ticket};
    if (self_.applied() == self_.log().size())
        answer_sync(one);
    else
        syncs_.push_back(one);
}

void leader::answer_sync(const waiting_sync& s) {
    all_.send(self_.id, s.origin, [ticket = s.ticket](server& at) { at.synced(ticket); });
}

/// It has the same log from now on, executed as far.
void leader::admit(server& f) {
    all_.join(self_.id, f.id);
    f.log() = self_.log();
    while (f.applied() < self_.applied())
        f.apply_next();
    followers_[f.id] = {self_.log().size(), all_.time().now()};
    commit_what_can_be();
}

void leader::pong(int number, const std::set<std::int64_t>& touched) {
    const auto it = followers_.find(number);
    if (it == followers_.end()) return;
    it->second.heard = all_.time().now();
    for (const auto session : touched)
        touch(session);
}

bool leader::has_majority() const {
    return static_cast<int>(followers_.size()) + 1 >= all_.majority();
}

bool leader::is_followed() const {
    const auto have = std::count_if(followers_.begin(), followers_.end(),
                                    [&](const auto& f) { return all_.joined(self_.id, f.first); });
    return have + 1 >= all_.majority();
}

void leader::pulse() {
    const auto now = all_.time().now();
    std::vector<std::int64_t> over;
    for (const auto& [session, what] : sessions_)
        if (!what.closing && what.expires <= now) over.push_back(session);
    for (const auto session : over)
        expire(session);
    std::vector<int> silent;
    for (const auto& [number, f] : followers_)
        if (now - f.heard > all_.sync_limit()) silent.push_back(number);
    for (const auto number : silent) {
        followers_.erase(number);
        all_.disconnect(self_.id, number);
    }
    if (!has_majority()) return all_.step_down(self_.id);
    for (const auto& [number, f] : followers_)
        all_.send(self_.id, number, [](server& at) { at.ping(); });
}

} // namespace paddock::test::sim
