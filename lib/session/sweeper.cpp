#include "session/sweeper.hpp"

#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::detail {

namespace {
using namespace std::chrono_literals;
/// After a temporary failure. Others wait for the lock meanwhile, so it is short; five requests a
/// second for each node disturb no ensemble.
constexpr auto soon = 200ms;
/// Between two tries without the right: an administrator who has given it waits for so long.
constexpr std::chrono::seconds longest_refusal = 1min;
constexpr int most_doublings = 6; ///< of a second, which is more than longest_refusal
/// By then the ensemble has executed a lost create, or never will: a follower that is cut off
/// leaves its leader after syncLimit ticks, 10 s usually.
constexpr auto late = 1min;
/// Because their answers may be long, and a directory's whole listing is in the memory of each.
constexpr std::size_t searches_at_once = 4;
} // namespace

void sweeper::remove(const std::string& path, rules::node_id id, std::size_t bytes, bool exists,
                     bool keyed) {
    removal job{.id = id, .bytes = bytes, .exists = exists, .keyed = keyed};
    if (const auto lock = rules::marked_lock(rules::name_of(path)))
        job.with = rules::child(rules::parent(path), *lock);
    add(path, std::move(job));
}

void sweeper::remove_alone(const std::string& path, rules::node_id id, std::size_t bytes) {
    add(path, {.id = id, .bytes = bytes});
}

void sweeper::remove_with_directory(const std::string& path, rules::node_id id, std::size_t bytes) {
    add(path, {.id = id, .bytes = bytes, .keyed = true, .with_directory = true});
}

void sweeper::remove_orphan(const std::string& path, rules::node_id id) {
    if (!removals_.contains(path)) ++orphans_;
    remove(path, id, 0);
}

void sweeper::add(const std::string& path, removal job) {
    const auto bytes = job.bytes;
    const bool added = removals_.try_emplace(path, std::move(job)).second;
    pending_ = removals_.size();
    if (added)
        send(path);
    else
        nodes_.release(bytes);
}

void sweeper::when_deleted(const std::string& path, unique_function<void(error_code)> gone) {
    const auto it = removals_.find(path);
    if (it == removals_.end())
        gone({});
    else if (silent_)
        gone(errc::outcome_unknown);
    else if (it->second.refusals > 0)
        gone(zk_errc::no_auth);
    else
        it->second.waiting.push_back(std::move(gone));
}

void sweeper::send(const std::string& path) {
    auto& job = removals_.at(path);
    job.under_way = true;
    job.retry.reset();
    request deletes = requests::remove{.path = path,
                                       .mergeable = job.exists && !job.repeated,
                                       .with_directory = job.with_directory};
    if (!job.with.empty())
        deletes =
            requests::multi{{op::remove{path, any_version}, op::remove{job.with, any_version}}};
    dispatcher_.submit(lane::urgent, std::move(deletes),
                       [this, path](const auto& reply) { answered(path, reply); });
}

void sweeper::answered(const std::string& path, const native::reply& reply) {
    const auto it = removals_.find(path);
    if (it == removals_.end()) return;
    auto& job = it->second;
    job.under_way = false;
    if (static_cast<zk_errc>(reply.rc) == zk_errc::no_node) found_missing(path, job);
    const auto result = rules::judge(rules::request_kind::remove, reply.rc);
    if (deletes_less(path, job, reply, result)) return send(path);
    switch (result) {
    case rules::outcome::done:
        return deleted(path);
    case rules::outcome::rarely:
        return refused(path);
    case rules::outcome::lost: // on_connected() sends it again
        job.repeated = true;
        return;
    case rules::outcome::not_sent: // likewise
        if (!connected_) return;
        [[fallthrough]];
    default:
        job.retry = env_.now() + soon;
        return arm();
    }
}

/// If no answer was lost another client has deleted the node.
void sweeper::found_missing(const std::string& path, removal& job) {
    if (!job.repeated) job.gone_before = true;
    if (job.with_directory) directories_.left(rules::parent(path), rules::made_here::perhaps);
}

/// Whether a node that stands beside the own one in the multi was the obstacle: it leaves that out.
bool sweeper::deletes_less(const std::string& path, removal& job, const native::reply& reply,
                           rules::outcome result) {
    if (static_cast<zk_errc>(reply.rc) == zk_errc::no_node && reply.refused_step == 1) {
        job.with.clear(); // an administrator has deleted the lock's node
        return true;
    }
    if (!job.with_directory || result == rules::outcome::done || !rules::agreed(reply.rc))
        return false;
    leave_directory(path, reply.rc);
    return true;
}

void sweeper::deleted(const std::string& path) {
    const auto it = removals_.find(path);
    auto gone = std::move(it->second);
    removals_.erase(it);
    pending_ = removals_.size();
    claims_.release(gone.id);
    nodes_.release(gone.bytes);
    for (auto& tell : gone.waiting)
        tell(gone.gone_before ? errc::node_deleted : error_code());
}

/// An administrator can give the right back, so the delete goes on, but nobody waits for it.
void sweeper::refused(const std::string& path) {
    auto& job = removals_.at(path);
    const auto pause = std::chrono::seconds(1 << std::min(job.refusals++, most_doublings));
    job.retry = env_.now() + std::min(pause, longest_refusal);
    arm();
    log_.write(log_code::not_permitted,
               "not allowed to delete " + path + ": the access control list of " +
                   std::string(rules::parent(path)) +
                   " lacks DELETE for this client. Nobody else gets that lock until the right is "
                   "given, or this session ends; still trying",
               env_.now(), rules::parent(path));
    for (auto& tell : std::exchange(job.waiting, {}))
        tell(zk_errc::no_auth);
}

/// Others use the directory, or it must not be deleted: the node alone is.
void sweeper::leave_directory(const std::string& path, int code) {
    removals_.at(path).with_directory = false;
    const auto directory = rules::parent(path);
    directories_.refused(directory, code);
    directories_.left(directory, rules::made_here::yes); // the node was still there
}

std::vector<request> sweeper::unanswered_keyed() const {
    std::vector<request> all;
    for (const bool with_directory : {false, true})
        for (const auto& [path, job] : removals_)
            if (job.keyed && job.with_directory == with_directory)
                all.emplace_back(requests::remove{.path = path, .with_directory = with_directory});
    return all;
}

void sweeper::taint(const std::string& directory, std::size_t bytes) {
    auto& state = tainted_[directory];
    state.bytes += bytes;
    state.due.reset(); // that was the time for creates that were lost before
    state.last = false;
    if (connected_) search(directory);
}

void sweeper::search(const std::string& directory) {
    if (std::exchange(tainted_.at(directory).wanted, true)) return;
    to_search_.push_back(directory);
    search_next();
}

/// A few at a time: after a reconnect there may be thousands of searches, and they are sent before
/// other requests.
void sweeper::search_next() {
    while (searching_ < searches_at_once && !to_search_.empty()) {
        const auto directory = std::move(to_search_.front());
        to_search_.pop_front();
        auto& state = tainted_.at(directory);
        state.under_way = true;
        state.last = state.due && *state.due <= env_.now();
        state.again.reset();
        ++searching_;
        list_after_barrier(dispatcher_, claims_, lane::urgent, directory,
                           [this, directory](int code, std::vector<std::string> names) {
                               searched(directory, code, names);
                           });
    }
}

void sweeper::searched(const std::string& directory, int code,
                       const std::vector<std::string>& names) {
    const auto it = tainted_.find(directory);
    if (it == tainted_.end() || !it->second.under_way) return; // of the session before
    auto& state = it->second;
    state.wanted = state.under_way = false;
    --searching_;
    const auto result = rules::judge(rules::request_kind::list, code);
    const bool unanswered = result == rules::outcome::lost || result == rules::outcome::not_sent;
    // The barrier may have been lost with the connection before; then on_connected() did not
    // search.
    if (result == rules::outcome::later || (unanswered && connected_)) {
        search_again(state, soon);
    } else if (!unanswered) {
        nodes_.release(std::exchange(state.bytes, 0));
        if (state.last) {
            tainted_.erase(directory); // not `it`: release() may have called taint()
        } else {
            if (!state.due) state.due = env_.now() + late;
            search_again(state, *state.due - env_.now());
        }
        const auto orphans = rules::orphans(names, claims_);
        for (const auto& name : orphans)
            remove_orphan(rules::child(directory, name), rules::own_id(name, claims_).value());
        // A late create may have made the directory, too.
        if (!orphans.empty()) directories_.left(directory, rules::made_here::perhaps);
    } // else on_connected() searches it again
    search_next();
}

void sweeper::search_again(tainted_directory& state, boot_clock::duration after) {
    state.again = env_.now() + after;
    arm();
}

void sweeper::on_suspended() {
    connected_ = false;
    if (!silence_) silence_ = env_.make_timer();
    // One until the session is over, and one to reconnect and hear of it.
    silence_->arm(env_.now() + 2 * session_timeout_, [this] { answer_waiting(); });
}

/// The deletes go on; the calls that wait for them end with errc::outcome_unknown.
void sweeper::answer_waiting() {
    silent_ = true;
    std::vector<unique_function<void(error_code)>> all;
    for (auto& [path, job] : removals_)
        for (auto& tell : std::exchange(job.waiting, {}))
            all.push_back(std::move(tell));
    for (auto& tell : all)
        tell(errc::outcome_unknown);
}

void sweeper::on_connected(boot_clock::duration session_timeout) {
    connected_ = true;
    session_timeout_ = session_timeout;
    silent_ = false;
    if (silence_) silence_->cancel();
    std::vector<std::string> lost;
    for (const auto& [path, job] : removals_)
        if (!job.under_way && !job.retry) lost.push_back(path);
    for (const auto& path : lost)
        send(path);
    std::vector<std::string> directories;
    for (const auto& [directory, state] : tainted_)
        directories.push_back(directory);
    for (const auto& directory : directories)
        search(directory);
}

void sweeper::on_session_ended(error_code why) {
    connected_ = false;
    timer_.reset();
    silence_.reset();
    silent_ = false;
    std::size_t bytes = 0;
    to_search_.clear();
    searching_ = 0;
    for (const auto& [directory, state] : std::exchange(tainted_, {}))
        bytes += state.bytes;
    auto over = std::exchange(removals_, {});
    pending_ = 0;
    for (const auto& [path, job] : over) {
        bytes += job.bytes;
        if (job.with_directory) directories_.left(rules::parent(path), rules::made_here::perhaps);
    }
    for (auto& [path, job] : over)
        for (auto& tell : job.waiting)
            tell(why);
    nodes_.release(bytes);
}

void sweeper::arm() {
    std::optional<boot_clock::time_point> next;
    const auto consider = [&](const std::optional<boot_clock::time_point>& when) {
        if (when && (!next || *when < *next)) next = when;
    };
    for (const auto& [path, job] : removals_)
        consider(job.retry);
    for (const auto& [directory, state] : tainted_)
        consider(state.again);
    if (!next) return;
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(*next, [this] { on_timer(); });
}

void sweeper::on_timer() {
    const auto now = env_.now();
    std::vector<std::string> paths;
    for (const auto& [path, job] : removals_)
        if (job.retry && *job.retry <= now) paths.push_back(path);
    std::vector<std::string> directories;
    for (auto& [directory, state] : tainted_) {
        if (!state.again || *state.again > now) continue;
        state.again.reset();
        if (connected_) // else on_connected() searches
            directories.push_back(directory);
    }
    for (const auto& path : paths)
        send(path);
    for (const auto& directory : directories)
        search(directory);
    arm();
}

} // namespace paddock::detail
