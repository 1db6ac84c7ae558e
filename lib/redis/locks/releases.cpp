#include "redis/locks/releases.hpp"

#include "redis/locks/core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::redis::detail {

namespace {
/// Before a server that has refused a release (it loads its data, say) is asked again.
/// Others wait for the lock meanwhile; five requests a second disturb no server.
constexpr std::chrono::milliseconds pause{200};
} // namespace

void releases::start(terms what, ended released) {
    if (!core_.has_connections()) {
        if (released) released(core_.close_reason(), 0);
        return;
    }
    const auto id = ++last_;
    auto servers = what.servers;
    auto& one = entries_.emplace(id, entry{id, std::move(what), servers, {}, std::move(released)})
                    .first->second;
    for (const auto server : servers)
        send(one, server);
    if (entries_.size() == 1) arm();
}

void releases::send(entry& one, int server) {
    core_.call(
        server, rules::script::release,
        rules::release_words(one.what.keys, one.what.value, one.what.tells), [] { return true; },
        [this, id = one.id, server](const auto& said, auto) { on_answer(id, server, said); });
}

void releases::on_answer(std::uint64_t id, int server, const std::optional<rules::answer>& said) {
    using kind = rules::answer::kind;
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    auto& one = found->second;
    if (!said || (said->what != kind::released && said->what != kind::gone)) {
        // on_time() sends it again, and on_reachable() if the server is away. Without an answer of
        // a server that is there it was not sent: too many bytes wait.
        if (said || core_.is_reachable(server)) one.refused.push_back(server);
        return;
    }
    one.listeners = std::max(one.listeners, said->listeners);
    std::erase(one.unconfirmed, server);
    const auto confirmed = one.what.servers.size() - one.unconfirmed.size();
    const auto listeners = one.listeners;
    ended released;
    if (confirmed >= static_cast<std::size_t>(core_.quorum()))
        released = std::exchange(one.released, {});
    if (one.unconfirmed.empty()) entries_.erase(found);
    if (released) released({}, listeners);
    tell_if_done();
}

void releases::on_reachable(int server) {
    for (auto& [id, one] : entries_)
        if (std::count(one.unconfirmed.begin(), one.unconfirmed.end(), server) > 0)
            send(one, server);
}

void releases::stop_waits(error_code why) {
    std::vector<ended> waits;
    for (auto& [id, one] : entries_)
        if (one.released) waits.push_back(std::exchange(one.released, {}));
    for (auto& one : waits)
        one(why, 0);
}

void releases::when_done(unique_function<void()> done) {
    done_ = std::move(done);
    tell_if_done();
}

void releases::clear() noexcept {
    entries_.clear();
    timer_.reset();
    done_ = {};
}

void releases::arm() {
    if (!timer_) timer_ = core_.make_timer();
    timer_->arm(core_.env().now() + pause, [this] { on_time(); });
}

void releases::on_time() {
    std::vector<ended> released;
    for (auto& [id, one] : entries_) {
        if (one.what.until <= core_.env().now()) released.push_back(std::move(one.released));
        for (const auto server : std::exchange(one.refused, {}))
            send(one, server);
    }
    std::erase_if(entries_, [now = core_.env().now()](const auto& one) {
        return one.second.what.until <= now;
    });
    if (!entries_.empty()) arm();
    for (auto& one : released)
        if (one) one({}, 0);
    tell_if_done();
}

void releases::tell_if_done() {
    if (!entries_.empty() || !done_) return;
    auto done = std::exchange(done_, {});
    done();
}

} // namespace paddock::redis::detail
