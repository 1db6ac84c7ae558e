#include "sim/model_script.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::test::sim {

namespace state = native::state;
using namespace std::chrono_literals;

void script::client::on_session_event(int new_state) noexcept {
    log.push_back(name + " state " + std::to_string(new_state));
}

void script::client::on_watch(native::watch_type type, std::string_view path) noexcept {
    log.push_back(name + " event " + std::to_string(static_cast<int>(type)) + ' ' +
                  std::string(path));
}

script::script(place& where, std::uint64_t seed, std::string root)
    : where_(where), chance_(seed), root_(std::move(root)) {
    one_.name = "one";
    other_.name = "other";
}

template <typename Condition>
void script::turn_until(Condition condition) {
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
        for (auto* const caller : {&one_, &other_})
            if (caller->calls) where_.turn(*caller->calls);
        if (std::chrono::steady_clock::now() > patience)
            throw std::runtime_error("no answer in the script");
    }
}

void script::until_answered(client& caller) {
    turn_until([&] { return caller.waiting == 0; });
}

void script::open(client& caller) {
    caller.calls = where_.make();
    caller.calls->open(where_.address(), 8s, caller);
    turn_until([&] { return caller.calls->state() == state::connected; });
}

std::vector<std::string> script::run() {
    open(one_);
    open(other_);
    ++one_.waiting;
    one_.calls->create(root_, "root", {}, native::on_reply([this](const native::reply& r) {
                           --one_.waiting;
                           first_zxid_ = r.stat ? r.stat->czxid : 0;
                       }));
    until_answered(one_);
    for (int n = 12 + chance_.below(20); n > 0; --n)
        step();
    one_.calls->close();
    other_.calls->close();
    return std::move(story_);
}

void script::step() {
    auto& caller = chance_.one_in(2) ? one_ : other_;
    auto& rival = &caller == &one_ ? other_ : one_;
    if (chance_.one_in(12)) return lose_connection(caller, rival);
    if (chance_.one_in(20)) return end_session(caller);
    burst(caller);
}

/// Some requests without waiting in between.
void script::burst(client& caller) {
    for (int n = 1 + chance_.below(6); n > 0; --n)
        ask(caller);
    until_answered(caller);
    settle();
    gather();
}

/// Both clients have got all events.
void script::settle() {
    for (auto* const caller : {&one_, &other_}) {
        ++caller->waiting;
        caller->calls->sync(
            root_, native::on_reply([caller](const native::reply&) { --caller->waiting; }));
        until_answered(*caller);
    }
}

/// A reconnected client gets the events of its watches in the order of its tables.
void script::gather(bool in_any_order) {
    for (auto* const caller : {&one_, &other_}) {
        auto all = std::exchange(caller->log, {});
        if (in_any_order) std::sort(all.begin(), all.end());
        story_.insert(story_.end(), all.begin(), all.end());
    }
}

/// The watches report afterwards what the other client did meanwhile.
void script::lose_connection(client& caller, client& other) {
    const bool busy = chance_.one_in(2);
    if (busy) ask(caller); // executed or not: its own node is not looked at again
    if (busy) until_answered(caller);
    caller.calls->break_connection();
    turn_until([&] { return caller.calls->state() != state::connected; });
    for (int n = 1 + chance_.below(4); n > 0; --n)
        ask(other);
    turn_until([&] { return other.waiting == 0 && caller.calls->state() == state::connected; });
    settle();
    gather(true);
}

void script::end_session(client& caller) {
    caller.calls->close();
    caller.calls.reset();
    open(caller);
    settle();
    gather(true);
}

std::string script::path() {
    static constexpr const char* names[] = {"/a", "/b", "/a/x", "/a/y", "/b/x", "/none/z"};
    return root_ + names[chance_.below(6)];
}

native::calls::done script::note(client& caller, std::string what) {
    ++caller.waiting;
    return native::on_reply([this, &caller, what = std::move(what)](const native::reply& r) {
        --caller.waiting;
        caller.log.push_back(caller.name + ' ' + what + " -> " + said(caller, r));
    });
}

std::string script::said(const client& caller, const native::reply& r) const {
    auto text = std::to_string(r.rc);
    if (!r.value.empty()) text += " '" + std::string(r.value) + '\'';
    const auto add = [&](const node_stat& s) {
        const bool own = s.ephemeral_owner == caller.calls->session_id();
        for (const auto zxid : {s.czxid, s.mzxid, s.pzxid})
            text += ' ' + (zxid == 0 ? "-" : std::to_string(relative(zxid)));
        for (const auto n : {s.version, s.cversion, s.aversion, s.data_length, s.num_children})
            text += ' ' + std::to_string(n);
        text += s.ephemeral_owner == 0 ? " no owner" : own ? " own" : " other's";
    };
    if (r.stat) add(*r.stat);
    std::vector<std::string> names(r.names.begin(), r.names.end());
    std::sort(names.begin(), names.end());
    for (const auto& name : names)
        text += ' ' + name;
    for (const auto& one : r.results) {
        text += " [" + one.path;
        add(one.stat);
        text += ']';
    }
    if (r.refused_step >= 0) text += " at " + std::to_string(r.refused_step);
    return text;
}

void script::ask(client& caller) {
    const auto where = path();
    const auto data = std::string(static_cast<std::size_t>(chance_.below(4)), 'd');
    const bool watch = chance_.one_in(2);
    const auto version = chance_.one_in(3) ? chance_.below(3) : any_version;
    auto& c = *caller.calls;
    const auto suffix = ' ' + where + (watch ? " watched" : "");
    switch (chance_.below(11)) {
    case 0:
    case 1:
    case 2: {
        static constexpr create_mode modes[] = {
            create_mode::persistent, create_mode::ephemeral, create_mode::persistent_sequential,
            create_mode::ephemeral_sequential, create_mode::container};
        const auto mode = modes[chance_.below(5)];
        const auto what = "create " + std::to_string(static_cast<int>(mode)) + ' ' + where;
        const create_options how{.mode = mode, .acl = open_acl(), .ttl = {}};
        static_cast<void>(c.create(where, data, how, note(caller, what)));
        return;
    }
    case 3:
    case 4:
        static_cast<void>(c.remove(where, version, note(caller, "remove " + where)));
        return;
    case 5:
        static_cast<void>(c.set(where, data, version, note(caller, "set " + where)));
        return;
    case 6:
        static_cast<void>(c.get(where, watch, note(caller, "get" + suffix)));
        return;
    case 7:
        static_cast<void>(c.exists(where, watch, note(caller, "exists" + suffix)));
        return;
    case 8:
        static_cast<void>(c.children(where, watch, note(caller, "children" + suffix)));
        return;
    case 9:
        if (c.remove_watches(where, note(caller, "unwatch " + where)) != code::ok) {
            --caller.waiting; // nothing is watched, as far as the client knows
            caller.log.push_back(caller.name + " has nothing to unwatch at " + where);
        }
        return;
    default:
        return ask_multi(caller);
    }
}

/// A node that the same multi changes and deletes.
void script::add_passing_node(std::vector<operation>& steps, std::string& what) {
    const auto where = path() + "/passing";
    steps.emplace_back(op::create{.path = where, .mode = create_mode::ephemeral});
    steps.emplace_back(op::set{.path = where});
    steps.emplace_back(op::remove{.path = where});
    what += " passing " + where;
}

void script::ask_multi(client& caller) {
    std::vector<operation> steps;
    std::string what = "multi";
    for (int n = 1 + chance_.below(3); n > 0; --n) {
        const auto where = path();
        switch (chance_.below(4)) {
        case 0:
            steps.emplace_back(op::create{.path = where,
                                          .data = "m",
                                          .mode = chance_.one_in(2)
                                                      ? create_mode::ephemeral
                                                      : create_mode::persistent_sequential,
                                          .acl = open_acl()});
            break;
        case 1:
            steps.emplace_back(op::set{.path = where, .data = "multi"});
            break;
        case 2:
            steps.emplace_back(op::remove{.path = where});
            break;
        default:
            steps.emplace_back(op::check{.path = where, .version = chance_.below(3) - 1});
        }
        what += ' ' + std::to_string(steps.back().index()) + where;
    }
    if (chance_.one_in(2)) add_passing_node(steps, what);
    static_cast<void>(caller.calls->multi(steps, note(caller, what)));
}

} // namespace paddock::test::sim
