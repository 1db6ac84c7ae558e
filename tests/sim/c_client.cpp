// The loop of the simulated C client; its requests are in c_client_requests.cpp.
#include "sim/c_client.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

namespace state = native::state;
namespace event = native::event;

namespace {

constexpr int ping_xid = -2;
constexpr int watches_xid = -8;

/// The servers have the addresses 10.0.0.1, 10.0.0.2, …
std::vector<int> parse(const std::string& list) {
    std::vector<int> out;
    for (std::size_t at = 0; at < list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        out.push_back(server_at(std::string_view(list).substr(at, end - at)));
        at = end + 1;
    }
    return out;
}

} // namespace

bool c_client::open(const std::string& servers, std::chrono::milliseconds session_timeout,
                    native::observer& events) {
    servers_ = parse(servers);
    timeout_ = session_timeout;
    observer_ = &events;
    if (here_->servers().encrypted()) network_ = make_environment(here_);
    return true;
}

std::string c_client::server() const {
    return "10.0.0." + std::to_string(servers_[next_server_] + 1) + ":2181";
}

int c_client::set_servers(const std::string& servers) {
    servers_ = parse(servers);
    next_server_ = 0;
    rests_ = false;
    return code::ok;
}

native::interest_result c_client::end_session() noexcept {
    flush();
    const bool sends = state_ == state::connected && socket_ && socket_->full();
    if (observer_ && sends && !socket_->broken())
        return {.connection = socket_->where(), .events = event::writable};
    free_handle();
    if (!socket_) return {};
    socket_->discard();
    if (socket_->broken()) close();
    if (!socket_) return {};
    return {.connection = socket_->where(), .events = event::readable};
}

void c_client::free_handle() noexcept {
    if (std::exchange(observer_, nullptr) == nullptr) return;
    const bool told = state_ == state::connected && socket_ && !socket_->broken();
    if (told) socket_->send({.what = verb::close});
    flush();
    complete_all(code::closing);
    state_ = state::not_connected;
    if (!told) close();
}

void c_client::close() noexcept {
    free_handle();
    if (socket_) socket_->close();
    socket_.reset();
    relayed_.reset();
}

int c_client::phase() const noexcept {
    const bool secures = relayed_ && socket_ == relayed_ && relayed_->secures();
    return secures && state_ == state::connecting ? state::securing : state_;
}

void c_client::break_connection() noexcept {
    if (socket_) socket_->shut_down();
}

void c_client::connect() {
    if (network_)
        socket_ = relayed_ =
            std::make_shared<relayed_end>(here_, *network_, servers_[next_server_]);
    else
        socket_ = here_->dial(servers_[next_server_]);
    state_ = state::connecting;
    last_received_ = last_sent_ = now();
    here_->heard = 0;
}

native::interest_result c_client::interest() {
    native::interest_result wanted;
    if (!usable()) return {.rc = code::invalid_state};
    if (!socket_) {
        if (std::exchange(rests_, false)) {
            wanted.timeout = timeout_ / 60;
            return wanted;
        }
        connect();
    }
    const auto silent = now() - last_received_;
    if (silent >= timeout_ * 2 / 3) return {.rc = lose(code::operation_timeout)};
    auto until = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_ * 2 / 3 - silent);
    if (state_ == state::connected) {
        if (now() - last_sent_ >= timeout_ / 3 && pending_.empty())
            if (!transmit({.what = verb::ping, .xid = ping_xid}))
                return {.rc = code::connection_loss}; // though the connection is not closed
        const auto idle = std::max<duration>(timeout_ / 3 - (now() - last_sent_), duration(0));
        until = std::min(until, std::chrono::duration_cast<std::chrono::milliseconds>(idle));
        if (!pending_.empty() && idle == duration(0)) until = timeout_ / 3;
    }
    wanted.connection = socket_->where();
    const bool sends = socket_->full() || (state_ == state::connecting && !relayed_);
    wanted.events = event::readable | (sends ? event::writable : 0U);
    wanted.timeout = until;
    return wanted;
}

int c_client::process(unsigned events) {
    if (!usable() || !socket_) return code::invalid_state;
    socket_->look();
    if ((events & event::writable) != 0 && state_ == state::connecting) {
        if (socket_->broken()) return lose(code::connection_loss);
        if (!socket_->established()) return code::ok;
        socket_->shake_hands(session_, timeout_, seen_);
        state_ = state::associating;
        last_sent_ = now();
        return code::ok;
    }
    if ((events & event::readable) == 0) return code::ok;
    const bool had_one = !here_->hasty && task_ == here_->task();
    if (!had_one) socket_->receive();
    if (socket_->inbound.empty())
        return socket_->broken() ? lose(code::connection_loss) : code::nothing;
    if (had_one) return code::nothing;
    task_ = here_->task();
    auto first = std::move(socket_->inbound.front());
    socket_->inbound.pop_front();
    last_received_ = now();
    return take(std::move(first));
}

int c_client::take(packet p) {
    here_->heard = std::max(here_->heard, p.truth);
    if (p.zxid > 0) seen_ = std::max(seen_, p.zxid);
    switch (p.what) {
    case packet::session:
        return take_session(p);
    case packet::event:
        take_event(p);
        return code::ok;
    case packet::answer:
        return take_answer(p);
    }
    return code::ok;
}

int c_client::take_session(const packet& p) {
    if (p.session_id == 0) {
        socket_->close();
        socket_.reset();
        state_ = state::expired;
        here_->time().note([&] { return here_->name + " learns that its session is over"; });
        observer_->on_session_event(state::expired);
        complete_all(code::session_expired);
        return code::session_expired;
    }
    session_ = p.session_id;
    timeout_ = p.timeout;
    state_ = state::connected;
    failures_ = 0;
    here_->servers().belongs_to(session_, here_->name);
    here_->time().note([&] {
        return here_->name + " is connected to server " + std::to_string(servers_[next_server_]) +
               ", session " + here_->servers().name_of(session_);
    });
    send_watches();
    // The C client sends the leftovers of a failed send now, and does not know their answers.
    for (auto& one : pending_)
        if (!std::exchange(one.sent, true)) transmit(one.what);
    observer_->on_session_event(state::connected);
    return code::ok;
}

int c_client::take_answer(const packet& p) {
    if (p.xid == ping_xid || p.xid == watches_xid) return code::ok;
    if (pending_.empty() || pending_.front().what.xid != p.xid)
        return lose(code::runtime_inconsistency);
    const auto first = std::move(pending_.front());
    pending_.pop_front();
    arm(first.what, p.rc);
    std::vector<const char*> names;
    for (const auto& name : p.names)
        names.push_back(name.c_str());
    const acl entries = open_acl();
    native::reply answer{.rc = p.rc, .value = p.value};
    answer.stat = p.stat && p.rc == code::ok ? &*p.stat : nullptr;
    answer.names = names;
    answer.results = p.results;
    answer.refused_step = p.refused_step;
    if (first.what.what == verb::get_acl) answer.entries = entries;
    first.reply_to->complete(answer);
    return code::ok;
}

/// A watch exists from the answer on.
void c_client::arm(const request& r, int rc) {
    if (r.what == verb::remove_watches && rc == code::ok) {
        data_.erase(r.path);
        exist_.erase(r.path);
        child_.erase(r.path);
    }
    if (!r.watch) return;
    if (r.what == verb::exists && rc == code::no_node) exist_.insert(r.path);
    if (rc != code::ok) return;
    (r.what == verb::children ? child_ : data_).insert(r.path);
}

void c_client::take_event(const packet& p) {
    bool known = false;
    if (p.type != native::watch_type::child)
        known = data_.erase(p.value) + exist_.erase(p.value) > 0;
    if (p.type == native::watch_type::child || p.type == native::watch_type::deleted)
        known = child_.erase(p.value) > 0 || known;
    if (known) observer_->on_watch(p.type, p.value);
}

/// The connection is lost, and the C client knows it.
int c_client::lose(int rc) {
    const bool was_connected = state_ == state::connected;
    if (was_connected)
        here_->time().note(
            [&] { return here_->name + " is disconnected, code " + std::to_string(rc); });
    if (socket_) socket_->close();
    socket_.reset();
    if (servers_.size() > 1) next_server_ = (next_server_ + 2) % servers_.size(); // it does
    if (++failures_ % servers_.size() == 0) rests_ = true;
    if (was_connected) observer_->on_session_event(state::connecting);
    complete_all(rc);
    state_ = state::idle;
    return rc;
}

void c_client::complete_all(int rc) {
    for (auto& one : std::exchange(pending_, {}))
        one.reply_to->complete(native::reply{.rc = rc});
}

} // namespace paddock::test::sim
