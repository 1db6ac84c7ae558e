// How contenders join, up to their entry in the table, how they leave, and share a lock that they
// had exclusively; the events of the session.
#include "rules/queue.hpp"

#include <algorithm>
#include <utility>

namespace paddock::rules {

void queue::join(contender_key key, contender_terms how) {
    directory_.join(how.own_directory);
    start(contenders_.add(key, how));
}

void queue::quit(contender_key key) {
    auto* const c = contenders_.find(key);
    if (!c || c->at == stage::granted) return;
    if (c->at == stage::creating) {
        c->quitting = true;
        return;
    }
    drop(*c);
    advance();
}

void queue::release(contender_key key) {
    auto* const c = contenders_.find(key);
    if (!c || c->at != stage::granted) return;
    drop(*c);
    advance();
}

void queue::watch_hold(contender_key key) {
    auto* const c = contenders_.find(key);
    if (c && c->at == stage::granted) watch_own(*c);
}

/// The shared contenders behind it are granted once a shared node has replaced the exclusive one.
void queue::downgrade(contender_key key) {
    auto* const c = contenders_.find(key);
    if (!c || c->at != stage::granted || c->how.as == role::shared || c->downgrade_id != 0) return;
    c->downgrade_id = ids_.claim();
    if (session_.is_connected()) send_downgrade(*c);
}

void queue::send_downgrade(const contender& c) {
    actions_.push_back(
        queue_act::downgrade{c.key, c.downgrade_id, c.node->first.name, name_after_downgrade(c)});
}

/// The shared node's name: its own id, and the sequence number of the present node.
std::string queue::name_after_downgrade(const contender& c) const {
    const auto before_digits = names_.prefix(ids_, c.id, role::exclusive).size();
    return names_.prefix(ids_, c.downgrade_id, role::shared) +
           c.node->first.name.substr(before_digits);
}

void queue::downgraded(contender_key key, node_id id, outcome result, int code) {
    auto* const c = contenders_.find(key);
    if (!c || c->downgrade_id != id) return;
    switch (result) {
    case outcome::done:
        become_shared(*c);
        return advance();
    case outcome::missing:
        own_node_deleted(*c);
        return advance();
    case outcome::lost: // connected() repeats it; the unique name makes it happen only once
        actions_.push_back(queue_act::taint{key});
        return;
    case outcome::not_sent:
        if (!session_.is_connected()) return; // connected() repeats it
        return session_.need_pause(actions_);
    case outcome::refused:
    case outcome::rarely:
        return keep_exclusive(*c, code);
    case outcome::later:
        return session_.need_pause(actions_);
    }
}

/// The ensemble refused the downgrade. Events of the own node were ignored until this answer, so
/// the node is watched anew. If an earlier request, whose answer was lost, was executed after all,
/// its node is an orphan that the taint finds.
void queue::keep_exclusive(contender& c, int code) {
    ids_.release(std::exchange(c.downgrade_id, 0));
    actions_.push_back(queue_act::downgrade_refused{c.key, code});
    watch_own(c);
}

/// Replaces the contender's node in the table by the shared one.
void queue::become_shared(contender& c) {
    const node_position where{c.node->first.sequence, name_after_downgrade(c)};
    if (c.own_watch != watching::no) actions_.push_back(queue_act::forget{c.node->first.name});
    const auto next = remove_node(c.node);
    ids_.release(c.id);
    c.id = std::exchange(c.downgrade_id, 0);
    c.how.as = role::shared;
    c.own_watch = watching::no;
    c.node = table_.insert(where, {.local = &c, .as = role::shared});
    table_.granted(c.node);
    actions_.push_back(queue_act::downgraded{c.key});
    watch_own(c);
    if (!listing_in_flight_) rewatch_behind(next, role::exclusive);
}

void queue::watch_first(bool yes) {
    watch_first_ = yes;
    if (watch_first_) return update_watches();
    if (!table_.empty()) forget_if_unneeded(table_.begin());
}

void queue::show_positions(bool yes) {
    show_positions_ = yes;
    list_if_due();
}

void queue::connected() {
    session_.connect();
    listing_in_flight_ = listing_wanted_ = false;
    blocker_reads_.clear();
    for (auto& [where, entry] : table_)
        entry.watch = watching::no;
    for (auto& [key, c] : contenders_) {
        c.own_watch = watching::no;
        c.first_listing = listings_sent_ + 1;
    }
    start_joining();
    update_watches();
    advance(); // grants nothing yet, but reads the nodes of those that could be granted
    for (auto& [key, c] : contenders_) {
        if (c.at != stage::granted) continue;
        watch_own(c);
        if (c.downgrade_id != 0) send_downgrade(c);
    }
}

void queue::disconnected() {
    session_.disconnect();
    listing_wanted_ = false;
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.how.immediate && !c.quitting && c.at != stage::granted)
            fail(c, queue_act::why::not_connected, 0);
    }
}

void queue::expired() {
    session_.expire();
    listing_in_flight_ = listing_wanted_ = false;
    directory_.making(false);
    clear_table();
    blocker_reads_.clear();
    directory_.doubt();
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.with_directory && c.at == stage::creating) directory_.perhaps_made();
        if (c.at == stage::granted)
            actions_.push_back(queue_act::lose{c.key, true});
        else if (c.how.fail_on_expiry && !c.quitting)
            actions_.push_back(queue_act::fail{c.key, queue_act::why::session_expired, 0});
        else if (!c.quitting) {
            contenders_.begin_again(c);
            continue;
        }
        actions_.push_back(queue_act::out{c.key});
        contenders_.erase(c.key);
    }
    leave_directory();
}

void queue::created(contender_key key, node_id id, const created_answer& answer) {
    auto* const c = contenders_.find(key);
    if (!c || c->id != id || c->at != stage::creating) return;
    const bool with_directory = c->with_directory;
    if (with_directory) directory_.making(false);
    create_answered(*c, answer); // it may erase the contender
    if (with_directory)
        start_joining();
    else
        start_held_back();
}

void queue::create_answered(contender& c, const created_answer& answer) {
    if (answer.result == outcome::done) return node_created(c, answer);
    if (answer.result == outcome::lost) {
        actions_.push_back(queue_act::taint{c.key});
        if (c.with_directory) directory_.perhaps_made();
        contenders_.move_to(c, stage::unknown);
        c.first_listing = listings_sent_ + 1;
    } else {
        ids_.release(c.id);
        contenders_.move_to(c, stage::joining);
    }
    if (c.quitting) return drop(c);
    switch (session_.unless_late(answer.result)) {
    case outcome::lost: // connected() asks for the listing; if this answer is later, ask here
        if (session_.is_connected()) need_listing();
        break;
    case outcome::missing:
        if (!c.with_directory) directory_.missing();
        session_.need_parents(actions_, !c.with_directory);
        break;
    case outcome::refused:
    case outcome::rarely:
        if (!c.with_directory) return fail(c, queue_act::why::refused, answer.code);
        actions_.push_back(queue_act::directory_refused{answer.code});
        directory_.free(false); // start_joining() repeats it without the directory
        break;
    case outcome::later:
        session_.need_pause(actions_);
        break;
    case outcome::not_sent: // connected() repeats it
    case outcome::done:
        break;
    }
}

void queue::node_created(contender& c, const created_answer& answer) {
    if (c.with_directory) {
        forget_foreign_nodes(); // they were in a directory that is gone
        directory_.made();
        c.listed = true; // there is no node before it
    }
    const auto sequence = c.quitting ? std::nullopt : usable_sequence(answer.name);
    if (!sequence) return withdraw_node(c, answer.name);
    c.czxid = answer.czxid;
    enter_table(c, {*sequence, std::string(answer.name)});
    if (c.with_directory) advance(true);
}

/// The sequence number of a node, empty if the node must not join the queue: a number that has
/// overflowed would put it before all others.
std::optional<std::int32_t> queue::usable_sequence(std::string_view name) {
    const auto sequence = names_.sequence(name);
    if (!sequence || *sequence < 0 || *sequence >= sequence_limit) return std::nullopt;
    if (*sequence >= sequence_warning && !std::exchange(warned_, true))
        actions_.push_back(queue_act::warn{});
    return sequence;
}

/// Sweeps a created node because its contender has quit, or its sequence number is not usable.
void queue::withdraw_node(contender& c, std::string_view name) {
    sweep_node(c, std::string(name));
    contenders_.move_to(c, stage::joining); // drop() must not sweep the node again
    if (c.quitting) return drop(c);
    fail(c, queue_act::why::sequence_exhausted, 0);
}

void queue::resume() {
    if (!session_.end_pause()) return;
    start_joining();
    for (auto& [key, c] : contenders_) {
        if (c.own_watch != watching::later) continue;
        c.own_watch = watching::no;
        if (c.at == stage::granted) watch_own(c);
    }
    for (const auto& [key, c] : contenders_)
        if (session_.is_connected() && c.downgrade_id != 0) send_downgrade(c);
    update_watches();
    advance();
}

/// Sends the contender's create, and the listing that shows its blockers unless that can be later.
/// Without a connection, while parents or the directory are being made, and in a pause it sends
/// nothing: the end of each of these calls start_joining(). The same while a create's outcome is
/// unknown. If such a create must be repeated, its contender would otherwise be behind this one,
/// though it joined earlier.
void queue::start(contender& c) {
    if (!session_.is_connected() || session_.making_parents() || directory_.being_made() ||
        session_.pausing() || counts().unknown > 0)
        return;
    if (counts().creating >= most_creates_) {
        held_back_ = std::min(held_back_, c.key);
        return;
    }
    c.id = ids_.claim();
    c.first_listing = listings_sent_ + 1;
    const bool first = counts().in_table + counts().creating == 0;
    const bool with_directory =
        c.how.own_directory && directory_.can_be_made() && first && !listing_in_flight_;
    contenders_.change(c, [&] {
        c.at = stage::creating;
        c.with_directory = with_directory;
    });
    actions_.push_back(queue_act::create{c.key, c.id, with_directory});
    directory_.making(with_directory);
    if (with_directory) return;
    if (c.how.immediate) need_listing();
    list_if_due();
}

/// Starts the contenders that have sent no create, and asks for a listing if another one needs it.
void queue::start_joining() {
    held_back_ = 0;
    start_held_back();
    for (const auto& [key, c] : contenders_) {
        const bool under_way = (listing_in_flight_ && c.first_listing <= listings_sent_) ||
                               (c.at == stage::creating && c.with_directory);
        if (c.at != stage::joining && !c.listed && !under_way) return need_listing();
    }
}

/// As many as may be, in the order in which they joined; if they must wait for something else,
/// start_joining() comes.
void queue::start_held_back() {
    auto it = contenders_.at_or_behind(held_back_);
    for (; it != contenders_.end() && counts().creating < most_creates_; ++it)
        if (it->second.at == stage::joining) start(it->second);
    held_back_ = it == contenders_.end() ? none : it->first;
}

/// Its create was not executed, or its node is gone. start_joining() repeats the create.
void queue::forget_create(contender& c) {
    ids_.release(c.id);
    contenders_.begin_again(c);
}

/// A contender whose node was deleted joins again, with a new id.
void queue::rejoin(contender& c) {
    forget_create(c);
    start(c);
}

/// Removes a contender and sweeps its nodes.
void queue::drop(contender& c) {
    const bool unknown = c.at == stage::unknown;
    if (c.in_table()) {
        if (c.downgrade_id == 0) {
            sweep_node(c, c.node->first.name);
        } else { // only one of the two exists
            actions_.push_back(queue_act::sweep{c.key, c.id, c.node->first.name, false});
            actions_.push_back(
                queue_act::sweep{c.key, c.downgrade_id, name_after_downgrade(c), false});
        }
        leave_table(c);
    } else if (unknown) {
        ids_.release(c.id); // if its node exists, the taint finds it as an orphan
    }
    erase(c);
    if (unknown && counts().unknown == 0) start_joining();
}

void queue::erase(contender& c) {
    actions_.push_back(queue_act::out{c.key});
    contenders_.erase(c.key);
    if (!contenders_.empty()) return;
    forget_foreign_nodes();
    leave_directory();
    directory_.forget_keys();
}

void queue::fail(contender& c, queue_act::why reason, int code) {
    actions_.push_back(queue_act::fail{c.key, reason, code});
    if (c.at == stage::creating)
        c.quitting = true;
    else
        drop(c);
}

/// The ensemble refuses the listing: without it the waiting contenders would wait for ever.
void queue::fail_waiting(int code) {
    for (auto it = contenders_.begin(); it != contenders_.end();) {
        auto& c = (it++)->second;
        if (c.at == stage::waiting || c.at == stage::unknown)
            fail(c, queue_act::why::refused, code);
    }
}

void queue::take(std::vector<action>& actions) {
    check_invariants();
    actions = std::exchange(actions_, {});
}

} // namespace paddock::rules
