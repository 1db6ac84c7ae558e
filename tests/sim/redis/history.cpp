#include "sim/redis/history.hpp"

#include "sim/runner.hpp"
#include "sim/violation.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

namespace paddock::test::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t too_many_steps = 2'000'000;
constexpr auto patience = 3min; ///< of the callers, once all faults have ended

redis_server::refusal random_refusal(dice& chance) {
    using redis::rules::script;
    const std::set<script> writing{script::acquire, script::renew};
    const std::set<script> all{script::acquire, script::renew, script::release};
    const std::array<redis_server::refusal, 6> clean{{
        {"MISCONF Redis is configured to save RDB snapshots", all},
        {"NOREPLICAS Not enough good replicas to write.", all},
        {"BUSY Redis is busy running a script.", all},
        {"OOM command not allowed when used memory > 'maxmemory'.", writing},
        {"ERR Error running script", {script::renew}},
        {"ERR Error running script", {script::release}},
    }};
    auto out = chance.any_of(clean);
    out.is_done = chance.one_in(2);
    return out;
}

std::size_t number_of_servers(dice& chance) {
    constexpr std::array<std::size_t, 6> sizes{1, 1, 3, 3, 3, 5};
    return sizes[chance.next() % sizes.size()];
}

} // namespace

redis_history::troubles redis_history::draw(dice& chance) {
    troubles out{};
    if (chance.one_in(8)) return out;
    for (auto& one : out)
        one = chance.one_in(5);
    // They take the other promises away.
    out[steps] = chance.one_in(20);
    out[deletions] = chance.one_in(20);
    return out;
}

bool redis_history::untroubled() const {
    return std::none_of(troubles_.begin(), troubles_.end(), [](bool one) { return one; });
}

redis_checker::promises redis_history::promised() const {
    const bool by_hand = troubles_[steps] || troubles_[deletions];
    const bool even = !troubles_[slews] && !troubles_[offsets];
    redis_checker::promises all{.exclusion = !by_hand,
                                .growing_tokens =
                                    !by_hand && (even || !troubles_[losses] || net_.size() == 1)};
    constexpr auto longest_yield = 250ms; // in which a client lets others ask first
    if (untroubled() && aged_) all.longest_gap = longest_yield + 40ms + 80 * net_.latency;
    return all;
}

redis_history::redis_history(std::uint64_t seed, std::function<void(const std::string&)> note)
    : chance_(seed)
    , troubles_(draw(chance_))
    , net_(time_, chance_, number_of_servers(chance_))
    , checker_(time_) {
    if (note)
        time_.listener = [this, note, start = time_.now()](const std::string& what) {
            const auto ms = std::chrono::duration<double, std::milli>(time_.now() - start).count();
            auto stamp = std::to_string(ms);
            stamp.resize(stamp.find('.') + 3);
            note(std::string(12 - std::min<std::size_t>(11, stamp.size()), ' ') + stamp + "  " +
                 what);
        };
    max_ttl_ = 400ms * (1 + chance_.below(10));
    pace_ = chance_.between(1ms, 3ms) * (1 << chance_.below(10));
    length_ = pace_ * (20 + chance_.below(40));
    set_up_servers();
    checker_.promise(promised());
    locks_ = {"a"};
    if (chance_.one_in(4)) locks_.push_back("b");
    const auto count = 1 + static_cast<std::size_t>(chance_.below(4));
    for (std::size_t n = 0; n < count; ++n)
        add_process(n);
    plan_jobs();
    for (int n = 0; n < all; ++n)
        if (troubles_[static_cast<std::size_t>(n)]) active_.push_back(static_cast<trouble>(n));
    if (!untroubled()) misfortune();
}

void redis_history::set_up_servers() {
    net_.latency = chance_.between(100us, 2ms);
    if (chance_.one_in(4)) net_.latency *= 10;
    if (troubles_[slowness]) net_.slow_one_in = 5 << chance_.below(5);
    net_.names_fail = !untroubled() && chance_.one_in(4);
    if (troubles_[fragments]) net_.split_one_in = 2 + chance_.below(8);
    trusts_ = !troubles_[losses] && !troubles_[restarts] && chance_.one_in(2);
    aged_ = chance_.one_in(2);
    old_.resize(net_.size());
    if (troubles_[offsets])
        for (std::size_t n = 0; n < net_.size(); ++n)
            net_.server(n).model().step(std::chrono::milliseconds(chance_.below(20'000)));
    const bool has_password = chance_.one_in(8);
    for (std::size_t n = 0; n < net_.size(); ++n) {
        auto& one = net_.server(n);
        if (has_password) one.password = "secret";
        if (aged_) one.model().come_of_age(time_.now(), max_ttl_, static_cast<int>(net_.size()));
        old_[n] = one.model().all();
    }
}

std::string redis_history::url() {
    const bool by_name = chance_.one_in(8);
    std::string list = "redis://";
    for (std::size_t n = 1; n <= net_.size(); ++n) {
        if (n > 1) list += ',';
        if (n == 1 && !net_.server(0).password.empty()) list += ":secret@";
        list += (by_name ? "redis" : "10.0.0.") + std::to_string(n);
        if (n == 1 && chance_.one_in(4)) list += "/7";
    }
    return list;
}

void redis_history::add_process(std::size_t n) {
    redis_setup how{.name = std::string(1, static_cast<char>('A' + n)), .url = url()};
    how.options.max_ttl = max_ttl_;
    // An attempt needs up to three round trips, and may take half of this.
    const auto least = std::chrono::ceil<std::chrono::milliseconds>(20 * net_.latency);
    how.options.ttl = std::max({max_ttl_ / (1 + chance_.below(4)), least, 100ms});
    how.options.trust_new_servers = trusts_;
    how.options.log = [this, name = how.name](std::string_view what) {
        time_.note([&] { return name + ": " + std::string(what); });
    };
    how.locks = locks_;
    if (!untroubled() && chance_.one_in(6)) {
        const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(2 * soon());
        how.limit.longest = std::max(longest, 1ms);
        if (chance_.one_in(2)) how.limit.grace = 2 * how.limit.longest;
    }
    how.unsuitable_servers = troubles_[losses];
    processes_.push_back(std::make_unique<redis_process>(net_, checker_, std::move(how)));
    auto& loop = processes_.back()->loop();
    loop.hasty = chance_.one_in(2);
    if (chance_.one_in(4)) loop.crowd = net_.latency * chance_.below(4);
}

void redis_history::plan_jobs() {
    const int count = 2 + chance_.below(chance_.one_in(8) ? 40 : 12);
    for (int n = 0; n < count; ++n)
        time_.after(chance_.between(duration(0), length_), [this] {
            if (calm_) return;
            auto& chosen = *chance_.any_of(processes_);
            if (chance_.one_in(20))
                chosen.connect(chance_.one_in(2) ? std::optional(soon()) : std::nullopt);
            chosen.begin(random_job());
        });
}

redis_job redis_history::random_job() {
    redis_job j;
    j.lock = chance_.next() % locks_.size();
    if (chance_.one_in(3)) j.how = chance_.one_in(2) ? redis_job::immediate : redis_job::limited;
    j.limit = chance_.one_in(10) ? -soon() : soon() * 4;
    if (chance_.one_in(5)) j.cancelled_after = chance_.one_in(2) ? soon() : 5 * net_.delay();
    const bool is_long = chance_.one_in(4);
    j.held_for = is_long ? chance_.between(duration(0), 2 * max_ttl_) : soon();
    j.unlocks = chance_.one_in(2);
    j.verifies = chance_.one_in(4);
    j.listens = chance_.one_in(4);
    return j;
}

void redis_history::misfortune() {
    if (calm_) return;
    befall(chance_.any_of(active_));
    time_.after(chance_.between(duration(0), 2 * pace_), [this] { misfortune(); });
}

void redis_history::befall(trouble what) {
    const auto n = chance_.next() % net_.size();
    auto& server = net_.server(n);
    auto& chosen = *chance_.any_of(processes_);
    const auto told = [&](const std::string& text) { time_.note([&] { return text; }); };
    switch (what) {
    case breaks:
    case silence:
    case holds:
        return befall_link(what);
    case pauses:
        told(chosen.loop().name + " is paused");
        return chosen.loop().pause(chance_.one_in(4) ? chance_.between(0ms, max_ttl_) : soon());
    case stops:
        told(server.name() + " is stopped");
        return server.pause(chance_.one_in(8) ? chance_.between(0ms, 6s) : soon());
    case cuts:
        return chance_.one_in(3) ? server.cut_off(4 * soon()) : void();
    case restarts:
        if (!chance_.one_in(4)) return;
        told(server.name() + " is restarted");
        return server.restart(server.model().all(), soon(),
                              chance_.one_in(3) ? soon() : duration(0));
    case losses:
        return chance_.one_in(3) ? lose_data(server) : void();
    case slews:
        return slew(server);
    case steps:
        told(server.name() + " has its clock set");
        return server.model().step(std::chrono::milliseconds(chance_.below(20'000) - 10'000));
    case deletions:
        return server.model().remove(chance_.any_of(locks_));
    case strangers:
        return server.model().set_by_others(time_.now(), "a stranger", 1ms + max_ttl_ / 4,
                                            chance_.any_of(locks_));
    case refusals:
        return server.refuse_scripts(random_refusal(chance_),
                                     chance_.one_in(4) ? chance_.between(0ms, max_ttl_) : soon());
    case flushes:
        told(server.name() + " forgets its scripts");
        return server.flush_scripts();
    case deaths:
        if (!chance_.one_in(20) || chosen.loop().dead()) return;
        told(chosen.loop().name + " is killed");
        return chosen.die();
    case leavers:
        return chance_.one_in(20) ? chosen.leave(chance_.one_in(2)) : void();
    default:
        return;
    }
}

void redis_history::befall_link(trouble what) {
    const auto count = net_.links().size();
    if (count == 0) return;
    // The latest ones are alive.
    const auto back = chance_.next() % std::min<std::size_t>(count, 4 * net_.size());
    auto& link = *net_.links()[count - 1 - back];
    if (!link.open()) return;
    const bool one_way = chance_.one_in(2), which = chance_.one_in(2);
    if (what == breaks) return link.break_off(chance_.one_in(2));
    if (what == silence)
        return chance_.one_in(4) ? link.go_silent(!one_way || which, !one_way || !which) : void();
    link.hold_until(time_.now() + (chance_.one_in(8) ? chance_.between(0ms, 5s) : 2 * soon()),
                    which);
}

/// As chrony does it, at most. All servers may follow one wrong source.
void redis_history::slew(redis_server& of) {
    const int thousandths = chance_.one_in(2) ? 83 : chance_.below(167) - 83;
    if (chance_.one_in(2)) return of.model().slew(time_.now(), thousandths);
    for (std::size_t n = 0; n < net_.size(); ++n)
        net_.server(n).model().slew(time_.now(), thousandths);
}

void redis_history::lose_data(redis_server& of) {
    const auto n = static_cast<std::size_t>(of.name().back() - '1');
    const auto old = std::exchange(old_[n], of.model().all());
    time_.note([&] { return of.name() + " loses data"; });
    switch (chance_.below(4)) {
    case 0:
        return of.model().forget();
    case 1:
        return of.restart({}, soon(), duration(0));
    case 2:
        return of.restart(old, soon(), chance_.one_in(3) ? soon() : duration(0));
    default:
        return of.follow(chance_.one_in(2) ? old : redis_model::data(), soon());
    }
}

bool redis_history::idle() const {
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& one) { return one->idle(); });
}

void redis_history::step() {
    must(time_.step(), "the model: time stands still");
    must(time_.steps() < too_many_steps, "there is no end to it");
    checker_.look();
    constexpr std::size_t seldom = 512; // a copy of all statistics takes as long as many events
    for (const auto& one : processes_)
        if (one->look(); time_.steps() % seldom == 0) one->look_at_statistics();
}

void redis_history::step_until(time_point end) {
    time_.at(end, [] {});
    while (time_.now() < end)
        step();
}

template <typename Predicate>
void redis_history::step_until(Predicate reached, duration patience, const std::string& what) {
    const auto end = time_.now() + patience;
    time_.at(end, [] {});
    while (!reached()) {
        step();
        if (time_.now() < end) continue;
        std::string waiting;
        for (const auto& one : processes_)
            waiting += one->story();
        throw violation(what + waiting);
    }
}

/// All faults end: every caller is served, and nothing is left in the end.
void redis_history::calm_down() {
    time_.note([] { return std::string("calm"); });
    calm_ = true;
    net_.slow_one_in = 0;
    net_.names_fail = false;
    for (std::size_t n = 0; n < net_.size(); ++n)
        net_.server(n).recover();
    for (const auto& one : net_.links())
        for (const bool to_server : {true, false})
            one->hold_until(time_.now(), to_server);
    for (const auto& one : processes_)
        one->loop().recover();
    step_until([this] { return idle(); }, patience, "everything is well, but in vain waits");
    check_quiet();
    for (const auto& one : processes_)
        part_with(*one);
    if (troubles_[steps]) return; // keys live longer
    step_until(time_.now() + max_ttl_ * 5 / 4);
    for (std::size_t n = 0; n < net_.size(); ++n)
        must(net_.server(n).model().keys(time_.now()) == 0,
             "a key is left that is older than its time to live");
}

/// Where no connection was ever lost, and no old data came back, a key goes with its hold, and with
/// its attempt.
void redis_history::check_quiet() {
    if (troubles_[losses] || troubles_[slowness]) return;
    const auto healthy = [](const auto& one) { return one->healthy(); };
    if (!std::all_of(net_.links().begin(), net_.links().end(), healthy)) return;
    step_until(time_.now() + 300ms + 10 * net_.latency);
    if (!std::all_of(net_.links().begin(), net_.links().end(), healthy)) return;
    for (std::size_t n = 0; n < net_.size(); ++n)
        must(net_.server(n).model().keys(time_.now()) == 0, "a key is left behind");
}

/// It closes its client in the middle of its work.
void redis_history::part_with(redis_process& chosen) {
    if (chosen.loop().dead()) return;
    for (int n = 0; n < 3; ++n)
        chosen.begin({.lock = chance_.next() % locks_.size(), .held_for = 20ms});
    step_until(time_.now() + chance_.between(duration(0), 10 * net_.latency));
    chosen.leave(chance_.one_in(2));
    step_until([&] { return chosen.idle(); }, 2s + max_ttl_,
               chosen.loop().name + " closes its client for ever:");
    chosen.look_at_the_end();
}

void redis_history::run() {
    step_until(time_.now() + length_);
    calm_down();
}

std::string run_history(std::uint64_t seed, std::string* story) {
    std::function<void(const std::string&)> note;
    if (story) note = [story](const std::string& what) { *story += what + '\n'; };
    redis_history one(seed, std::move(note));
    try {
        one.run();
    } catch (const std::exception& fault) {
        return fault.what();
    }
    return {};
}

} // namespace paddock::test::sim
