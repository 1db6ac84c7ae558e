#include "redis/locks/core.hpp"

#include "redis/locks/core_place.hpp"
#include "redis/locks/error_of.hpp"
#include "redis/locks/lock_line.hpp"
#include "support/fork.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace paddock::redis::detail {

namespace {

/// How long close() waits for the confirmation of the releases, as its documentation says. A lock
/// whose release is lost is free after its time to live.
constexpr std::chrono::seconds longest_close{1};

connection_limits limits_of(const client_options& options) {
    connection_limits limits;
    limits.unsent_bytes = options.max_bytes_queued;
    limits.tls = options.tls;
    if (!options.label.empty()) limits.name += ':' + options.label;
    return limits;
}

} // namespace

/// A message may have been missed until now.
void core::place::on_subscribed(const std::string& channel) {
    if (const auto line = owner.line_listening_to(channel)) line->on_subscribed(index);
}

core::core(asio::any_io_executor io, world outside, std::vector<rules::server> servers,
           client_options options)
    : client_base(std::move(io), std::move(outside.env), outside.clock, options.log,
                  options.observer)
    , options_(std::move(options))
    , timing_(options_.ttl)
    , least_validity_(options_.min_validity.count() > 0 ? options_.min_validity : options_.ttl / 4)
    , deployment_{options_.max_ttl, static_cast<int>(servers.size()), options_.trust_new_servers}
    , forks_(forks.load(std::memory_order_relaxed))
    , releases_(*this) {
    for (auto& one : servers)
        servers_.push_back(std::make_unique<place>(*this, size(), std::move(one)));
}

core::~core() = default;

void core::start() {
    if (std::exchange(started_, true)) return;
    for (const auto& one : servers_)
        one->link =
            std::make_unique<server>(env(), one->where, deployment_, limits_of(options_), *one);
}

rules::deployment core::deployment(int server) const {
    auto all = deployment_;
    all.database = servers_[static_cast<std::size_t>(server)]->where.database;
    return all;
}

bool core::is_reachable(int server) const {
    const auto& at = servers_[static_cast<std::size_t>(server)];
    return at->link && at->link->reachable();
}

bool core::has_connections() const noexcept { return servers_.front()->link != nullptr; }

std::vector<bool> core::voters() const {
    std::vector<bool> all;
    all.reserve(servers_.size());
    for (const auto& one : servers_)
        all.push_back(one->link && one->link->reachable() && !one->refusal &&
                      one->young_until <= now());
    return all;
}

/// A server whose clock was set counts as well: it is of age soon.
int core::connections() const {
    const auto is_connected = [](const auto& one) {
        return one->link && one->link->reachable() && !one->refusal;
    };
    return static_cast<int>(std::count_if(servers_.begin(), servers_.end(), is_connected));
}

bool core::connected() const { return connections() >= quorum(); }

std::string core::missing_quorum() const {
    if (connected()) return {};
    return " (" + std::to_string(connections()) + " of " + std::to_string(servers_.size()) +
           " servers can be used, and a lock needs " + std::to_string(quorum()) + ')';
}

boot_clock::duration core::round_trip() const {
    boot_clock::duration longest{};
    for (const auto& one : servers_)
        if (one->link && one->link->reachable())
            longest = std::max(longest, one->link->round_trip());
    return longest;
}

rules::obstacle core::obstacle_in(std::vector<std::optional<rules::answer>> refusals) const {
    for (std::size_t n = 0; n < refusals.size(); ++n)
        if (servers_[n]->refusal) refusals[n] = servers_[n]->refusal;
    return rules::obstacle_in(refusals);
}

void core::call(int server, rules::script which, rules::call_words words,
                std::function<bool()> still_wanted, answered done) {
    auto& at = *servers_[static_cast<std::size_t>(server)];
    if (!at.link) return; // after the end
    at.scripts.called();
    at.link->call(which, std::move(words), std::move(still_wanted),
                  [this, &at, which, done = std::move(done)](std::optional<rules::answer> said,
                                                             time_point sent) mutable {
                      at.scripts.answered(which, said, now() - sent);
                      done(checked(at, std::move(said), sent), sent);
                  });
}

client_statistics core::statistics() const {
    auto all = common_statistics();
    for (const auto& one : servers_)
        all.servers.push_back(one->statistics());
    all.attempts = attempts_.statistics();
    return all;
}

client_health core::readiness() const {
    const auto usable = std::count_if(servers_.begin(), servers_.end(),
                                      [](const auto& one) { return one->votes.load(); });
    return {.ready = usable >= quorum(),
            .reason = std::to_string(usable) + " of " + std::to_string(size()) +
                      " servers can be used, and a lock needs " + std::to_string(quorum())};
}

void core::heard_clock(place& of, time_point sent, std::chrono::microseconds clock) {
    if (!of.clock.stepped(sent, now(), clock)) return;
    of.young_until = now() + deployment_.max_ttl;
    of.tell(log_code::new_server,
            "has a clock that was set: for " + in_words(deployment_.max_ttl) +
                " (client_options::max_ttl) its votes for new holds do not count; check its time "
                "synchronisation");
}

/// What a server whose clock was set says about votes proves nothing until all keys are over that
/// it may have deleted too early.
std::optional<rules::answer> core::checked(place& of, std::optional<rules::answer> said,
                                           time_point sent) {
    if (!said) return said;
    of.complain_about(*said);
    if (said->clock.count() != 0) heard_clock(of, sent, said->clock);
    if (of.young_until <= now()) return said;
    if (said->what == rules::answer::kind::granted) {
        said->what = rules::answer::kind::refused; // the key goes
        said->text = "the clock of the server was set";
    }
    if (said->what == rules::answer::kind::renewed || said->what == rules::answer::kind::set)
        said->left = std::max(said->left,
                              std::chrono::ceil<std::chrono::milliseconds>(of.young_until - now()));
    return said;
}

/// One process must not vote under two addresses: also not while its votes under the other one
/// last.
bool core::is_listed_twice(const place& of) const {
    return std::any_of(servers_.begin(), servers_.end(), [&](const auto& other) {
        if (other.get() == &of || other->link->run_id() != of.link->run_id()) return false;
        return other->votes || (other->voted_until && now() < *other->voted_until + timing_.ttl);
    });
}

/// The other address of a server leads elsewhere now, or nowhere.
void core::admit_listed_twice() {
    for (const auto& one : servers_)
        if (one->listed_twice && one->link->reachable() && !is_listed_twice(*one))
            on_reachable(*one);
}

void core::on_reachable(place& of) {
    of.listed_twice = is_listed_twice(of);
    if (of.listed_twice) return of.refuse("the URL lists it twice, under two addresses");
    of.refusal.reset();
    of.set_votes(true);
    releases_.on_reachable(of.index);
    tell_connect_waiters();
    tell_lines([&](lock_line& one) { one.on_reachable(of.index); });
}

template <typename Event>
void core::tell_lines(Event event) {
    std::vector<std::shared_ptr<lock_line>> all;
    for (const auto& [name, one] : lines_)
        all.push_back(one);
    for (const auto& one : all)
        event(*one);
}

std::shared_ptr<lock_line> core::line_of(const std::string& name) {
    auto& found = lines_[name];
    if (!found) found = std::make_shared<lock_line>(*this, name);
    return found;
}

std::shared_ptr<lock_line> core::known_line_of(const std::string& name) const {
    const auto found = lines_.find(name);
    return found == lines_.end() ? nullptr : found->second;
}

void core::forget(const lock_line& one, const std::string& name) {
    const auto found = lines_.find(name);
    if (found != lines_.end() && found->second.get() == &one) lines_.erase(found);
}

std::shared_ptr<lock_line> core::line_listening_to(const std::string& channel) const {
    const auto found = lines_.find(rules::lock_name_of(channel));
    return found == lines_.end() ? nullptr : found->second;
}

void core::listen(const rules::lock_keys& keys) {
    for (const auto& one : servers_)
        if (one->link) one->link->subscribe(keys.channel);
}

void core::stop_listening(const rules::lock_keys& keys) {
    for (const auto& one : servers_)
        if (one->link) one->link->unsubscribe(keys.channel);
}

std::uint64_t core::when_connected(connect_waiter told) {
    const auto id = ++last_waiter_;
    connect_waiters_.emplace(id, std::move(told));
    tell_connect_waiters();
    return id;
}

std::uint64_t core::when_closed(unique_function<void(error_code)> told) {
    const auto id = ++last_waiter_;
    close_waiters_.emplace(id, std::move(told));
    return id;
}

/// No error: connected; errc::not_connected: not yet.
error_code core::connect_result() const {
    if (closed()) return close_reason();
    if (connected()) return {};
    const auto fault = error_of(obstacle_in({servers_.size(), std::nullopt}));
    return fault ? fault : errc::not_connected;
}

void core::tell_connect_waiters() {
    const auto result = connect_result();
    if (result == errc::not_connected) return;
    for (auto& [id, told] : std::exchange(connect_waiters_, {}))
        told(result);
}

void core::close(error_code why) {
    if (closed()) return;
    const bool forked = forks_ != forks.load(std::memory_order_relaxed);
    if (!forked) run_pending_releases();
    begin_close(why);
    if (forked) drop_connections(); // the locks stay with the parent
    attempts_.close();
    tell_lines([why](lock_line& one) { one.close(why); });
    lines_.clear();
    releases_.stop_waits(why);
    tell_connect_waiters();
    for (auto& [id, told] : std::exchange(close_waiters_, {}))
        told(why);
    end_holds();
    if (forked || !started_) return finish_closing();
    last_timer_ = env().make_timer();
    last_timer_->arm(env().now() + longest_close,
                     [self = shared_from_this()] { self->finish_closing(); });
    releases_.when_done([self = shared_from_this()] { self->finish_closing(); });
}

void core::finish_closing() {
    // Not from within a server's callback or a timer's: they are destroyed.
    env().post([self = shared_from_this()] {
        self->drop_connections();
        self->end();
    });
}

void core::drop_connections() noexcept {
    releases_.clear();
    timers_.clear();
    last_timer_.reset();
    for (const auto& one : servers_) {
        one->link.reset();
        one->scripts.end();
    }
}

} // namespace paddock::redis::detail
