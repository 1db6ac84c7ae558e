#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "rules/queue.hpp"
#include "unit/taken.hpp"

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::test {

using rules::contender_key;
using rules::node_id;
using rules::outcome;
namespace act = rules::queue_act;

inline std::string ten_digits(std::int32_t sequence) {
    char text[16];
    std::snprintf(text, sizeof text, "%010d", sequence);
    return text;
}

/// A node name as Curator writes it. The id says which of several processes created it.
inline std::string curator_name(std::int32_t sequence, int process = 0) {
    char id[40];
    std::snprintf(id, sizeof id, "c0ffee00-0000-4000-8000-%012x", static_cast<unsigned>(process));
    return std::string("_c_") + id + "-lock-" + ten_digits(sequence);
}

/// A queue that takes facts, step by step, and returns the wanted actions in words. Nodes are named
/// by their sequence numbers: `watch 3` is about a foreign node, `watch own 1` about that of the
/// contender 1.
class stepped_queue {
public:
    static constexpr std::int64_t first_session = 0x1000'0000'0000'0001;

    explicit stepped_queue(const std::string& name = "lock") : stepped_queue(rules::naming(name)) {}
    explicit stepped_queue(rules::naming of, std::size_t most_creates = rules::queue::unlimited)
        : names(std::move(of)), queue(names, ids, most_creates) {
        ids.begin(first_session);
    }

    std::string join(contender_key key, rules::contender_terms how = {}) {
        roles_[key] = how.as;
        queue.join(key, how);
        return actions();
    }
    std::string quit(contender_key key) {
        queue.quit(key);
        return actions();
    }
    std::string release(contender_key key) {
        queue.release(key);
        return actions();
    }
    std::string watch_hold(contender_key key) {
        queue.watch_hold(key);
        return actions();
    }
    std::string connected() {
        if (std::exchange(expired_, false)) ids.begin(ids.session() + 1);
        queue.connected();
        return actions();
    }
    std::string disconnected() {
        queue.disconnected();
        return actions();
    }
    std::string expired() {
        expired_ = true;
        nodes_.clear();
        queue.expired();
        return actions();
    }
    std::string lease_renewed() {
        queue.lease(true);
        queue.lease_renewed();
        return actions();
    }
    std::string resume() {
        queue.resume();
        return actions();
    }

    /// The contender's create is answered; its node's czxid is 100 + sequence.
    std::string created(contender_key key, std::int32_t sequence) {
        executed(key, sequence);
        const auto answered = name(sequence);
        queue.created(
            key, id_of(key),
            {.result = outcome::done, .code = 0, .name = answered, .czxid = 100 + sequence});
        return actions();
    }
    /// The create is executed, whether or not its answer comes.
    void executed(contender_key key, std::int32_t sequence) {
        nodes_[sequence] = names.prefix(ids, id_of(key), roles_[key]) + ten_digits(sequence);
    }
    std::string create_fails(contender_key key, outcome result, int code = 0) {
        queue.created(key, id_of(key), {.result = result, .code = code});
        return actions();
    }

    /// A listing with these nodes. The queue knows which of them are its own.
    std::string listed(std::initializer_list<std::int32_t> sequences) {
        std::vector<std::string> children;
        for (const auto sequence : sequences)
            children.insert(children.begin(), name(sequence)); // not in their order
        return listed_names(children);
    }
    std::string listed_names(const std::vector<std::string>& children) {
        queue.listed(outcome::done, 0, children);
        return actions();
    }
    std::string list_fails(outcome result, int code = 0) {
        queue.listed(result, code, {});
        return actions();
    }
    std::string parents_made(outcome result = outcome::done, int code = 0) {
        queue.parents_made(result, code);
        return actions();
    }

    std::string watched(std::int32_t sequence, outcome result = outcome::done) {
        queue.blocker_watched(name(sequence), result);
        return actions();
    }
    std::string own_watched(contender_key key, outcome result = outcome::done, bool room = true) {
        queue.own_watched(key, id_of(key),
                          {.result = result, .czxid = czxid_of(key), .watched = room});
        return actions();
    }
    /// A read of the contender's node is answered, and its watch armed.
    std::string own_read(contender_key key, std::optional<rules::revoke_request> shows = {}) {
        queue.own_watched(key, id_of(key),
                          {.result = outcome::done, .czxid = czxid_of(key), .revoke = shows});
        return actions();
    }
    std::string deleted(std::int32_t sequence) { return event(name(sequence), true); }
    std::string changed(std::int32_t sequence) { return event(name(sequence), false); }
    std::string event(const std::string& node, bool gone) {
        queue.node_event(node, gone);
        return actions();
    }

    /// Joins, and has its node and a listing with these nodes.
    std::string waits(contender_key key, std::int32_t sequence,
                      std::initializer_list<std::int32_t> sequences) {
        auto said = join(key);
        for (const auto& more : {created(key, sequence), listed(sequences)})
            said += said.empty() || more.empty() ? more : ", " + more;
        return said;
    }

    node_id id_of(contender_key key) const { return latest_.at(key); }
    std::string name(std::int32_t sequence) const {
        const auto known = nodes_.find(sequence);
        return known != nodes_.end() ? known->second : curator_name(sequence);
    }
    /// From now on the number means a foreign node of this kind.
    void foreign(std::int32_t sequence, const std::string& marker) {
        nodes_[sequence] = curator_name(sequence);
        nodes_[sequence].replace(nodes_[sequence].find("lock-"), 5, marker);
    }
    std::string downgrade(contender_key key) {
        queue.downgrade(key);
        return actions();
    }
    std::string downgraded(contender_key key, outcome result = outcome::done) {
        queue.downgraded(key, next_.at(key), result);
        return actions();
    }

    std::string downgrade_fails(contender_key key, outcome result, int code = 0) {
        queue.downgraded(key, next_.at(key), result, code);
        return actions();
    }

    /// All actions that the queue wants, in their order and in words.
    std::string actions() {
        std::string text;
        for (const auto& action : taken(queue)) {
            if (!text.empty()) text += ", ";
            text += std::visit([this](const auto& a) { return words(a); }, action);
        }
        return text;
    }

    rules::claims ids;
    rules::naming names;
    rules::queue queue;
    std::set<node_id> used;          ///< ids of all creates
    std::int64_t granted_czxid = 0;  ///< of the latest grant
    std::optional<node_id> swept_id; ///< of the latest sweep

private:
    static std::string number(std::int64_t n) { return std::to_string(n); }
    static std::string text(contender_key key) { return std::to_string(key); }
    std::string number_of(std::string_view node) const {
        const auto sequence = names.sequence(node);
        return sequence ? number(*sequence) : "nonsense";
    }
    std::int64_t czxid_of(contender_key key) const {
        for (const auto& [sequence, node] : nodes_)
            if (rules::own_id(node, ids) == id_of(key)) return 100 + sequence;
        return 0;
    }

    std::string words(const act::create& a) {
        if (!used.insert(a.id).second) return "create " + text(a.key) + " with an old id";
        latest_[a.key] = a.id;
        return "create " + text(a.key) + (a.with_directory ? " with directory" : "");
    }
    std::string words(const act::list& a) { return a.settle ? "settle" : "list"; }
    std::string words(const act::make_parents& a) {
        return a.directory ? "make parents" : "make parents of directory";
    }
    std::string words(const act::watch_blocker& a) { return "watch " + number_of(a.name); }
    std::string words(const act::watch_own& a) {
        const bool right = a.id == id_of(a.key) && rules::own_id(a.name, ids) == a.id;
        return "watch own " + text(a.key) + (right ? "" : " wrongly");
    }
    std::string words(const act::forget& a) { return "forget " + number_of(a.name); }
    std::string words(const act::sweep& a) {
        swept_id = a.id;
        return "sweep " + number_of(a.name) + (a.with_directory ? " with directory" : "");
    }
    std::string words(const act::downgrade& a) {
        next_[a.key] = a.id;
        return "downgrade " + text(a.key) + " to " + number_of(a.name);
    }
    std::string words(const act::downgraded& a) {
        latest_[a.key] = next_.at(a.key);
        return "downgraded " + text(a.key);
    }
    std::string words(const act::downgrade_refused& a) {
        return "refuse downgrade " + text(a.key) + ' ' + number(a.code);
    }
    std::string words(const act::request_revoke& a) { return "revoke " + text(a.key); }
    std::string words(const act::restore_data& a) {
        return "restore " + text(a.key) + " at " + number(a.version) + " since " +
               number(a.requested);
    }
    std::string words(const act::taint& a) { return "taint " + text(a.key); }
    std::string words(const act::pause&) { return "pause"; }
    std::string words(const act::await_lease&) { return "await lease"; }
    std::string words(const act::warn&) { return "warn"; }
    std::string words(const act::grant& a) {
        granted_czxid = a.czxid;
        return "grant " + text(a.key);
    }
    std::string words(const act::give_up& a) { return "give up " + text(a.key); }
    std::string words(const act::fail& a) {
        constexpr const char* reasons[] = {"refused", "sequence exhausted", "session expired",
                                           "not connected"};
        const auto code = a.reason == act::why::refused ? ' ' + number(a.code) : std::string();
        return "fail " + text(a.key) + ' ' + reasons[static_cast<int>(a.reason)] + code;
    }
    std::string words(const act::lose& a) {
        return "lose " + text(a.key) + (a.session_ended ? " with its session" : "");
    }
    std::string words(const act::out& a) { return "out " + text(a.key); }
    std::string words(const act::directory_refused& a) {
        return "directory refused " + number(a.code);
    }
    std::string words(const act::directory_shared&) { return "directory shared"; }
    std::string words(const act::directory_left& a) {
        if (a.made == rules::made_here::perhaps) return "directory perhaps remains";
        return a.made == rules::made_here::yes ? "directory remains" : "directory left";
    }

    bool expired_ = false;
    std::map<contender_key, node_id> latest_;
    std::map<contender_key, node_id> next_;     ///< after a downgrade
    std::map<std::int32_t, std::string> nodes_; ///< own, and foreign ones with a name
    std::map<contender_key, rules::role> roles_;
};

/// One that is connected, as most tests need it.
struct connected_queue : stepped_queue {
    explicit connected_queue(const std::string& lock_name = "lock") : stepped_queue(lock_name) {
        connected();
    }
    explicit connected_queue(rules::naming of) : stepped_queue(std::move(of)) { connected(); }
};

} // namespace paddock::test
