#include "sim/history.hpp"

#include "sim/runner.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paddock::test::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t too_many_steps = 3'000'000; ///< a bad network alone takes 600'000
constexpr auto patience = 10min;                  ///< of the callers, once all faults have ended
constexpr auto longest_linger = 60s;
/// A key's directory is visited up to 40 seconds after a node has lingered there. A tainted
/// directory is searched again a minute after.
constexpr auto sweep = longest_linger + 60s;

/// With a root of this length the smallest budget has room for two nodes of a client.
constexpr std::size_t long_root = 300;

std::string servers_of(int count, bool by_name) {
    std::string list;
    for (int n = 1; n <= count; ++n) {
        if (n > 1) list += ',';
        list += (by_name ? "zk" : "10.0.0.") + std::to_string(n);
    }
    return list;
}

} // namespace

history::history(std::uint64_t seed, std::function<void(const std::string&)> note)
    : only_by_key_(seed % 3 == 1)
    , chance_(seed)
    , sticky_chance_(~seed)
    , servers_(time_, chance_, options_of(chance_, troubles_))
    , root_(chance_.one_in(4) ? "/root" + std::string(chance_.one_in(2) ? long_root : 0, 't') : "")
    , checker_(servers_, root_) {
    servers_.only_own_directories = true;
    if (note)
        time_.listener = [this, note, start = time_.now()](const std::string& what) {
            const auto ms = std::chrono::duration<double, std::milli>(time_.now() - start).count();
            auto stamp = std::to_string(ms);
            stamp.resize(stamp.find('.') + 2);
            note(std::string(10 - std::min<std::size_t>(9, stamp.size()), ' ') + stamp + " ms  " +
                 what);
        };
    sticky_ = sticky_chance_.one_in(3);
    pace_ = chance_.between(1ms, 3ms) * (1 << chance_.below(11));
    // Long enough for another leader to end the expired sessions that the old one does not end.
    if (troubles_[usurpers]) pace_ = servers_.tick() * (1 + chance_.below(2));
    length_ = pace_ * (20 + chance_.below(60));
    const int count = 1 + chance_.below(3);
    for (int n = 0; n < count; ++n)
        add_process();
    // Most histories are about one lock.
    const auto any_kind = [this] { return static_cast<job::kind>(chance_.below(job::all_kinds)); };
    kinds_.push_back(any_kind());
    while (chance_.one_in(3))
        kinds_.push_back(any_kind());
    if (kinds_[0] == job::read || kinds_[0] == job::write) kinds_ = {job::read, job::write};
    if (kinds_[0] == job::read_again || kinds_[0] == job::write_again)
        kinds_ = {job::read_again, job::write_again};
    if (kinds_[0] == job::several) kinds_ = {job::several, job::mutex, job::write};
    if (sticky_ && sticky_chance_.one_in(2)) kinds_ = {job::mutex};
    bursts_ = chance_.one_in(3);
    if (bursts_)
        kinds_ = {job::mutex, job::read, job::write, job::permit, job::campaign, job::recursive};
    plan_jobs();
    if (std::count(troubles_.begin(), troubles_.end(), true) > 0) misfortune();
    data_is_lost_ = seed % 16 == 5;
    if (data_is_lost_) time_.after(length_ / 2, [this] { lose_data(); });
}

ensemble_options history::options_of(dice& chance, std::array<bool, all>& troubles) {
    for (auto& one : troubles)
        one = chance.one_in(4);
    ensemble_options o;
    o.servers = chance.one_in(3) ? 1 : 3;
    o.tick = std::chrono::milliseconds(500 << chance.below(3));
    o.sync_limit = 5 + chance.below(6);
    o.client_latency = chance.between(100us, 1ms);
    o.server_latency = chance.between(100us, 1ms);
    if (chance.one_in(4)) o.client_latency *= 10;
    if (chance.one_in(4)) o.server_latency *= 10;
    if (troubles[slowness]) o.slow_one_in = 5 << chance.below(4);
    o.encrypted = options().over_tls;
    if (troubles[fragility]) o.broken_one_in = 5 << chance.below(6);
    return o;
}

void history::add_process() {
    const std::string name(1, static_cast<char>('A' + processes_.size()));
    client_options options;
    options.session_timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(servers_.tick()) *
        (4 + chance_.below(7));
    options.lease.tick_time = servers_.tick();
    if (chance_.one_in(4)) options.lease.margin = options.session_timeout / 8;
    if (servers_.tick() * 5 <= options.session_timeout && sticky_chance_.one_in(2))
        options.lease.renew_every = options.session_timeout / 5 - options.lease.margin / 2;
    options.root = root_;
    options.create_root = true;
    if (root_.size() > long_root) options.budgets.node_path_bytes = 1024;
    if (chance_.one_in(4))
        options.budgets.requests_in_flight = 1 + static_cast<std::size_t>(chance_.below(4));
    options.log = [this, name](std::string_view what) {
        time_.note([&] { return name + ": " + std::string(what); });
        if (what.find("have refused this one") != what.npos) given_up_ = name;
    };
    lock_options lock_terms{.revocable = chance_.one_in(2)};
    if (chance_.one_in(6)) {
        const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(2 * soon());
        lock_terms.limit.longest = std::max(longest, 1ms);
        if (chance_.one_in(2)) lock_terms.limit.grace = 2 * lock_terms.limit.longest;
    }
    if (sticky_) make_sticky(lock_terms);
    processes_.push_back(std::make_unique<process>(
        servers_, checker_, locks_, name, servers_of(servers_.size(), troubles_[bad_names]),
        std::move(options), lock_terms));
    auto& here = processes_.back()->where();
    here.hasty = chance_.one_in(2);
    if (chance_.one_in(2)) here.crowd = servers_.tick() * chance_.below(4);
    if (here.crowd > duration(0)) crowded_ = true;
    here.names_fail = troubles_[bad_names];
}

void history::make_sticky(lock_options& terms) {
    constexpr std::array<std::uint32_t, 4> handoffs{0, 1, 3, 1'000'000};
    const std::array<duration, 4> lingers{0s, 1ms, pace_, longest_linger};
    terms.max_local_handoffs = sticky_chance_.any_of(handoffs);
    terms.linger = std::chrono::ceil<std::chrono::milliseconds>(sticky_chance_.any_of(lingers));
}

void history::plan_jobs() {
    const int count = 3 + chance_.below(12);
    for (int n = 0; n < count; ++n)
        time_.after(chance_.between(duration(0), length_), [this] {
            if (!calm_) begin_jobs();
        });
}

void history::begin_jobs() {
    auto& chosen = any_process();
    for (int n = bursts_ ? 2 + chance_.below(4) : 1; n > 0; --n)
        chosen.begin(random_job());
}

job history::random_job() {
    job j;
    j.what = chance_.any_of(kinds_);
    if (chance_.one_in(4)) j.how = chance_.one_in(2) ? job::immediate : job::limited;
    j.by_key = j.what == job::mutex && (only_by_key_ || ++mutex_jobs_ % 2 == 0);
    const bool has_tickets = j.what == job::mutex || j.what == job::other || j.what == job::read ||
                             j.what == job::write || j.what == job::permit;
    if (has_tickets && chance_.one_in(5)) j.how = job::queued;
    const bool has_work = j.what == job::mutex || j.what == job::campaign;
    if (has_work && chance_.one_in(4)) j.how = job::scoped;
    j.drops = chance_.one_in(4);
    j.owner = chance_.one_in(3) ? 1 : 0;
    j.downgrades = j.what == job::write && chance_.one_in(3);
    if (j.what == job::several) j.with = random_set();
    j.limit = 4 * soon();
    if (chance_.one_in(5)) j.cancelled_after = 2 * soon();
    if (!chance_.one_in(3)) j.held_for = 3 * soon();
    if (troubles_[usurpers] && chance_.one_in(2)) j.held_for *= 6;
    j.unlocks = chance_.one_in(2);
    if (bursts_ && chance_.one_in(2)) j.held_for = pace_; // released together, too
    j.writes = sticky_ && j.what == job::mutex && sticky_chance_.one_in(2);
    return j;
}

/// What a set has besides its first mutex. The smallest budget has room for two nodes.
std::vector<job::kind> history::random_set() {
    if (chance_.one_in(2)) return {job::mutex};
    std::vector<job::kind> all{chance_.one_in(2) ? job::read : job::write};
    if (root_.size() > long_root) return all;
    if (chance_.one_in(2)) all.push_back(job::permit);
    if (chance_.one_in(2)) std::swap(all.front(), all.back());
    return all;
}

void history::misfortune() {
    if (calm_) return;
    const auto what = static_cast<trouble>(chance_.below(all));
    if (troubles_[what]) befall(what);
    time_.after(soon() / 2, [this] { misfortune(); });
}

void history::befall(trouble what) {
    auto& chosen = any_process();
    const int server = chance_.below(servers_.size());
    const auto a_while = soon() * (1 + chance_.below(20));
    switch (what) {
    case breaks:
        time_.note([&] { return chosen.where().name + " loses its connection"; });
        return chosen.where().lose_connection();
    case holds:
        time_.note([&] { return chosen.where().name + " is not heard for a while"; });
        return chosen.where().hold_connection(a_while);
    case pauses:
        time_.note([&] { return chosen.where().name + " is paused"; });
        return chosen.where().pause(a_while);
    case kicks:
    case changes:
        return kick(what == kicks);
    case reaping:
        return servers_.reap();
    case expiries:
        if (chance_.one_in(4) && chosen.session() != 0) servers_.kill(chosen.session());
        return;
    case cuts:
        if (servers_.size() > 1 && chance_.one_in(3))
            servers_.cut_off(chance_.one_in(2) && servers_.leader() >= 0 ? servers_.leader()
                                                                         : server,
                             a_while, chance_.one_in(2));
        return;
    case usurpers:
        if (servers_.leader() >= 0 && chance_.one_in(4))
            servers_.cut_off(servers_.leader(), servers_.tick() * (8 + chance_.below(16)), true);
        return;
    case restarts:
        if (chance_.one_in(4)) servers_.restart(server, a_while / 4);
        return;
    case moves:
        return move(chosen);
    case deaths:
        if (!chance_.one_in(20) || chosen.where().dead()) return;
        time_.note([&] { return chosen.where().name + " is killed"; });
        return chosen.die();
    default:
        return;
    }
}

/// For as long as a lease of before may last: the new servers know of none.
void history::lose_data() {
    servers_.lose_data(20 * servers_.tick());
    time_.after(20 * servers_.tick(), [this] { checker_.forget_tokens(); });
}

/// An administrator deletes a lock's node, or writes into it.
void history::kick(bool deletes) {
    if (!chance_.one_in(2)) return;
    std::vector<std::string> nodes;
    for (const auto& [path, node] : servers_.truth().nodes())
        if (node.stat.ephemeral_owner != 0 && !path.ends_with("-marker")) nodes.push_back(path);
    if (nodes.empty()) return;
    const auto& path = chance_.any_of(nodes);
    if (path == root_ + locks_.simple.directory) return deletes ? kick_simple(path) : void();
    request order{.what = deletes ? verb::remove : verb::set, .path = path};
    if (chance_.one_in(2)) order.data = "__REVOKE__"; // as Curator's Revoker does
    servers_.administrator(order);
}

/// Together with the marker, as simple_mutex asks for.
void history::kick_simple(const std::string& path) {
    const auto& nodes = servers_.truth().nodes();
    const auto owner = nodes.at(path).stat.ephemeral_owner;
    request both{.what = verb::multi, .steps = {{.what = verb::remove, .path = path}}};
    for (const auto& [other, node] : nodes)
        if (other.ends_with("-marker") && node.stat.ephemeral_owner == owner)
            both.steps.push_back({.what = verb::remove, .path = other});
    servers_.administrator(both);
}

/// A server holds its requests for a while, and its client moves to another server.
void history::move(process& chosen) {
    if (!chance_.one_in(4)) return;
    const auto a_while = soon();
    for (int n = 0; n < servers_.size(); ++n) {
        if (!chance_.one_in(2)) continue;
        servers_.stall_requests(n, a_while * (2 + chance_.below(8)));
        if (n != servers_.leader()) servers_.cut_off(n, a_while, false);
    }
    for (int n = 0; n < 4; ++n)
        time_.after(soon(), [&chosen] { chosen.where().lose_connection(); });
}

bool history::idle() const {
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& one) { return one->idle(); });
}

void history::look() {
    checker_.look();
    constexpr std::size_t seldom = 512; // a copy of all statistics takes as long as many events
    for (const auto& one : processes_)
        if (one->look(); time_.steps() % seldom == 0) one->look_at_statistics();
    must(given_up_.empty() || data_is_lost_, given_up_ + " gives up a session that may live");
    if (!sticky_) return;
    checker_.look_at_writes(locks_.mutex);
    if (!calm_ || troubles_[usurpers]) return; // those hold a lock that they have lost for long
    checker_.look_at_free(locks_.mutex);
    checker_.look_at_free(locks_.other);
}

void history::step_until(time_point end) {
    while (time_.now() < end) {
        must(time_.step(), "the model: time stands still");
        must(time_.steps() < too_many_steps, "there is no end to it");
        look();
        if (calm_ && end - time_.now() > sweep && idle()) return;
    }
}

/// All faults end: every caller is served, and nothing is left in the end.
void history::calm_down() {
    time_.note([] { return std::string("calm"); });
    calm_ = true;
    servers_.heal();
    for (const auto& one : processes_)
        one->where().recover();
    step_until(time_.now() + patience);
    std::string waiting;
    for (const auto& one : processes_)
        waiting += one->story();
    must(waiting.empty(), "everything is well, but in vain waits" + waiting);
    const auto end = time_.now() + sweep;
    while (time_.now() < end) {
        must(time_.step() && time_.steps() < too_many_steps, "there is no end to it");
        look();
    }
    checker_.look_at_the_end();
    for (const auto& one : processes_)
        one->look_at_the_end();
    if (std::none_of(processes_.begin(), processes_.end(),
                     [](const auto& one) { return one->where().dead(); }))
        checker_.look_for_empty_directories();
    for (const auto& one : processes_)
        part_with(*one);
}

template <typename Predicate>
void history::step_until(Predicate reached, const std::string& what) {
    const auto end = time_.now() + patience;
    while (!reached())
        must(time_.step() && time_.steps() < too_many_steps && time_.now() < end, what);
}

/// It closes its client in the middle of its work.
void history::part_with(process& chosen) {
    if (chosen.where().dead()) return;
    for (int n = 0; n < 5; ++n) // more than some budgets have room for
        chosen.begin({.what = job::read, .held_for = 24h});
    step_until([&] { return chosen.holds() > 0; }, chosen.where().name + " is not served");
    chosen.leave();
    step_until([&] { return chosen.idle(); }, chosen.where().name + " closes its client for ever");
    chosen.look_at_the_end();
    const bool healthy =
        !data_is_lost_ && !crowded_ && std::count(troubles_.begin(), troubles_.end(), true) == 0;
    must(!healthy || chosen.warnings() == 0, chosen.where().name + " is warned without a reason");
}

void history::run() {
    step_until(time_.now() + length_);
    calm_down();
}

std::string run_history(std::uint64_t seed, std::string* story) {
    std::function<void(const std::string&)> note;
    if (story) note = [story](const std::string& what) { *story += what + '\n'; };
    history one(seed, std::move(note));
    try {
        one.run();
    } catch (const std::exception& fault) {
        return fault.what();
    }
    return {};
}

} // namespace paddock::test::sim
