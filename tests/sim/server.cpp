#include "sim/server.hpp"

#include "sim/ensemble.hpp"
#include "sim/leader.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

server::server(ensemble& all, int number)
    : id(number), all_(all), time_(all.time()), requests_(all.time()) {}

server::~server() = default;

bool server::is_write(verb what) noexcept {
    switch (what) {
    case verb::create:
    case verb::remove:
    case verb::set:
    case verb::check:
    case verb::multi:
    case verb::close:
        return true;
    default:
        return false;
    }
}

void server::shake_hands(const std::shared_ptr<socket>& from, std::int64_t session,
                         std::chrono::milliseconds timeout, std::int64_t seen) {
    // A client that has seen more than this server would go back in time.
    if (role_ == role::looking || seen > view_.zxid()) return from->hang_up();
    auto& c = connections_[from->identity];
    c.peer = from;
    if (session == 0) return open_session(c, timeout);
    drop_older(session, from->identity);
    if (leader_) {
        const bool valid = leader_->revalidate(session, id);
        return revalidated(from->identity, session, valid, leader_->timeout_of(session));
    }
    // Not behind the requests that wait.
    all_.send(id, leader_id_, [this, session, connection = from->identity](server& at) {
        if (!at.leader_) return;
        const bool valid = at.leader_->revalidate(session, id);
        const auto granted = at.leader_->timeout_of(session);
        all_.send(at.id, id, [connection, session, valid, granted](server& here) {
            here.revalidated(connection, session, valid, granted);
        });
    });
}

void server::open_session(connection& c, std::chrono::milliseconds timeout) {
    c.session = all_.new_session(id);
    c.opening = ++last_ticket_;
    tickets_[c.opening] = c.peer->identity;
    requests_.send(all_.server_delay(), [this, ticket = c.opening, session = c.session,
                                         granted = all_.negotiate(timeout)] {
        if (leader_) return leader_->open_session(id, ticket, session, granted);
        all_.send(id, leader_id_, [=, from = id](server& at) {
            if (at.leader_) at.leader_->open_session(from, ticket, session, granted);
        });
    });
}

void server::revalidated(std::uint64_t connection, std::int64_t session, bool valid,
                         std::chrono::milliseconds timeout) {
    const auto it = connections_.find(connection);
    if (it == connections_.end()) return;
    it->second.session = valid ? session : 0;
    it->second.peer->push({.what = packet::session,
                           .truth = view_.zxid(),
                           .session_id = it->second.session,
                           .timeout = timeout});
    if (!valid) drop(connection);
}

void server::touch(std::int64_t session) {
    if (leader_)
        leader_->touch(session);
    else
        touched_.insert(session); // the leader hears of it with the answer to its next ping
}

void server::receive(std::uint64_t connection, request r) {
    const auto it = connections_.find(connection);
    if (it == connections_.end()) return;
    auto& c = it->second;
    touch(c.session);
    pending p{.what = std::move(r)};
    if (is_write(p.what.what) || (p.what.what == verb::sync && !leader_)) {
        p.ticket = ++last_ticket_;
        tickets_[p.ticket] = connection;
        to_leader(p.ticket, c.session, p.what);
    }
    c.queue.push_back(std::move(p));
    advance(c);
}

void server::to_leader(std::uint64_t ticket, std::int64_t session, request r) {
    requests_.send(all_.server_delay(), [this, ticket, session, r = std::move(r)]() mutable {
        if (leader_) return leader_->prepare(id, ticket, session, r);
        all_.send(id, leader_id_, [from = id, ticket, session, r = std::move(r)](server& at) {
            if (!at.leader_) return;
            if (r.what == verb::sync)
                at.leader_->sync(from, ticket);
            else
                at.leader_->prepare(from, ticket, session, r);
        });
    });
}

/// Answers requests without a wait at once, in the order of the session's requests.
void server::advance(connection& c) {
    while (!c.queue.empty()) {
        auto& first = c.queue.front();
        if (first.ticket != 0 && !first.done) return;
        auto reply = first.ticket == 0
                         ? read(c, first.what)
                         : packet{.zxid = view_.zxid(), .value = first.what.path}; // a sync
        reply.xid = first.what.xid;
        reply.truth = view_.zxid();
        c.peer->push(std::move(reply));
        c.queue.pop_front();
    }
}

void server::synced(std::uint64_t ticket) {
    const auto known = tickets_.find(ticket);
    if (known == tickets_.end()) return;
    const auto it = connections_.find(known->second);
    tickets_.erase(known);
    if (it == connections_.end()) return;
    for (auto& one : it->second.queue)
        if (one.ticket == ticket) one.done = true;
    advance(it->second);
}

void server::propose(logged t) {
    log_.push_back(std::move(t));
    time_.after(all_.server_delay(),
                [this, length = log_.size(), last = log_.back(), to = leader_id_] {
                    const bool kept = log_.size() >= length && log_[length - 1] == last;
                    if (leader_id_ != to || role_ != role::following || !kept) return;
                    all_.send(id, to, [from = id, length](server& at) {
                        if (at.leader_) at.leader_->acknowledged(from, length);
                    });
                });
}

void server::commit() { apply_next(); }

void server::apply_next() {
    const auto t = log_[applied_++];
    std::vector<sight> seen;
    std::vector<node_stat> stats;
    view_.apply(*t, connections_.empty() ? nullptr : &seen, t->origin == id ? &stats : nullptr);
    for (const auto& one : seen)
        fire(one);
    if (t->origin == id) answer(*t, stats);
    if (t->what != txn::close_session) return;
    touched_.erase(t->session);
    std::vector<std::uint64_t> over;
    for (const auto& [number, c] : connections_)
        if (c.session == t->session) over.push_back(number);
    for (const auto number : over)
        drop(number);
}

void server::fire(const sight& seen) {
    for (auto& [number, c] : connections_) {
        bool hears = false;
        if (seen.type != native::watch_type::child) hears = c.data_watches.erase(seen.path) > 0;
        if (seen.type == native::watch_type::child || seen.type == native::watch_type::deleted)
            hears = c.child_watches.erase(seen.path) > 0 || hears;
        if (hears)
            c.peer->push({.what = packet::event,
                          .truth = view_.zxid(),
                          .value = seen.path,
                          .type = seen.type});
    }
}

/// The end of a write of one of this server's clients.
void server::answer(const txn& t, const std::vector<node_stat>& stats) {
    const auto known = tickets_.find(t.ticket);
    if (known == tickets_.end()) return;
    const auto number = known->second;
    tickets_.erase(known);
    const auto it = connections_.find(number);
    if (it == connections_.end()) return;
    auto& c = it->second;
    if (t.ticket == c.opening) {
        c.peer->push({.what = packet::session,
                      .truth = view_.zxid(),
                      .session_id = c.session,
                      .timeout = t.timeout});
        return;
    }
    if (t.rc == code::session_moved) return drop(number); // without an answer
    if (c.queue.empty() || c.queue.front().ticket != t.ticket) return;
    auto reply = reply_to(c.queue.front().what, t, stats);
    reply.xid = c.queue.front().what.xid;
    reply.zxid = t.zxid;
    reply.truth = t.zxid;
    c.peer->push(std::move(reply));
    c.queue.pop_front();
    advance(c);
}

packet server::reply_to(const request& r, const txn& t, const std::vector<node_stat>& stats) const {
    packet out{.rc = t.rc, .refused_step = t.refused_step};
    if (t.what != txn::changes) return out;
    if (!t.multi) {
        if (r.what == verb::create) out.value = t.steps.front().path;
        if (r.what != verb::remove && !t.steps.empty()) out.stat = stats.front();
        return out;
    }
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        operation_result one;
        if (t.steps[i].what == change::create) one.path = t.steps[i].path;
        if (t.steps[i].what == change::set) one.stat = stats[i];
        out.results.push_back(std::move(one));
    }
    return out;
}

void server::hung_up(std::uint64_t connection) { connections_.erase(connection); }

void server::drop(std::uint64_t connection) {
    const auto it = connections_.find(connection);
    if (it == connections_.end()) return;
    const auto peer = it->second.peer;
    connections_.erase(it);
    peer->hang_up();
}

/// A session has one connection to a server; unread packets of an older one are lost.
void server::drop_older(std::int64_t session, std::uint64_t connection) {
    std::vector<std::uint64_t> older;
    for (const auto& [number, c] : connections_)
        if (c.session == session && number != connection) older.push_back(number);
    for (const auto number : older)
        drop(number);
}

void server::drop_all() {
    for (auto& [number, c] : std::exchange(connections_, {}))
        c.peer->hang_up();
    tickets_.clear();
}

std::vector<std::string> server::watches() const {
    std::vector<std::string> all;
    for (const auto& [number, c] : connections_)
        for (const auto* const which : {&c.data_watches, &c.child_watches})
            for (const auto& path : *which)
                all.push_back(all_.name_of(c.session) + ' ' + path);
    return all;
}

} // namespace paddock::test::sim
