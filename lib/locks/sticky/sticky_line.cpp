#include "locks/sticky/sticky_line.hpp"

#include "locks/sticky/sticky_lines.hpp"
#include "rules/paths.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

sticky_line::sticky_line(sticky_lines& lines, std::shared_ptr<const fair_lock> lock)
    : lines_(lines)
    , core_(*lock->client)
    , lock_(std::move(lock))
    , queue_(queue_of(*lock_))
    , use_(core_)
    , rules_(lock_->sticky)
    , stuck_(core_) {
    if (core_.state() != client_state::connected) rules_.suspended();
}

bool sticky_line::serves(const std::shared_ptr<const fair_lock>& lock) const {
    if (lock == lock_) return true;
    const auto& a = *lock;
    const auto& b = *lock_;
    return a.directory == b.directory && a.names.marker() == b.names.marker() &&
           a.style == b.style && a.sticky == b.sticky && *a.nodes == *b.nodes &&
           a.on_expiry == b.on_expiry && a.on_over_budget == b.on_over_budget;
}

namespace {
rules::sticky::room room_of(core& client) {
    using room = rules::sticky::room;
    if (client.node_budget().awaited()) return room::wanted;
    const bool scarce = client.node_budget().half_used() || client.watches().half_used();
    return scarce ? room::scarce : room::plenty;
}
} // namespace

template <typename Event, typename... Args>
void sticky_line::report(Event event, Args... args) {
    if (core_.closed()) return;
    const auto now = core_.env().now();
    rules_.lease(core_.lease().fit(now) && core_.lease().has(term_));
    rules_.now(now);
    rules_.budgets(room_of(core_));
    (rules_.*event)(args...);
    carry_out();
}

void sticky_line::carry_out() {
    if (std::exchange(carrying_out_, true)) return; // the outer call's loop takes new actions
    const auto alive = shared_from_this();
    while (true) {
        auto actions = std::move(actions_);
        rules_.take(actions);
        for (const auto& a : actions)
            if (!core_.closed()) carry_out(a);
        const bool last = actions.empty();
        actions_ = std::move(actions);
        if (last) break;
    }
    carrying_out_ = false;
    // The node was deleted before the watch was set: no event will come of that.
    if (unseen_ && (rules_.idle() || rules_.joining())) watch_->forget();
    if (core_.closed()) return;
    if (waiters_.empty() && !holder_) use_.end();
    if (rules_.perhaps_stuck() && !stuck_.running()) stuck_.start(stuck_report());
    if (over()) lines_.forget(*this);
}

void sticky_line::carry_out(const action& a) {
    using kind = action::kind;
    switch (a.what) {
    case kind::join:
        return join_queue(a.immediate);
    case kind::quit:
        return queue_->quit(std::exchange(key_, 0));
    case kind::release:
        return queue_->release(std::exchange(key_, 0), false);
    case kind::watch:
        return watch();
    case kind::keep:
        return keep(a.until);
    case kind::unkeep:
        return unlink();
    case kind::grant:
        holder_key_ = a.who;
        holder_ = take_waiter(a.who);
        return holder_->granted(path_, {token_.zxid, token_.sub + a.count});
    case kind::busy:
        return take_waiter(a.who)->given_up();
    case kind::fail:
        return take_waiter(a.who)->failed(failure_);
    }
}

std::shared_ptr<queue_user> sticky_line::take_waiter(rules::contender_key key) {
    const auto it = waiters_.find(key);
    auto user = std::move(it->second);
    waiters_.erase(it);
    return user;
}

void sticky_line::join(rules::contender_key key, std::shared_ptr<queue_user> user,
                       entry_terms how) {
    if (const auto why = use_.begin(directory(), rules::lock_kind::mutex)) return user->failed(why);
    waiters_.emplace(key, std::move(user));
    report(&rules::sticky::join, key, how.rules.immediate);
}

void sticky_line::quit(rules::contender_key key) {
    if (waiters_.erase(key) > 0) report(&rules::sticky::leave, key);
}

void sticky_line::release(rules::contender_key key, bool passable) {
    if (key != holder_key_) return; // its node was lost
    holder_key_ = 0;
    holder_.reset();
    report(&rules::sticky::released, passable);
}

bool sticky_line::known_blocked(rules::contender_key, rules::role) const {
    return rules_.held() ||
           (rules_.joining() && queue_->known_blocked(key_, rules::role::exclusive));
}

void sticky_line::join_queue(bool immediate) {
    auto terms = terms_of(*lock_, rules::role::exclusive, immediate);
    terms.uses_path = false;
    key_ = queue_->next_key();
    queue_->join(key_, shared_from_this(), std::move(terms));
}

unique_function<void()> sticky_line::stuck_report() {
    return [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || self->core_.closed()) return;
        self->rules_.now(self->core_.env().now());
        self->stuck_.report(self->rules_.stuck(self->stuck_.threshold()), self->lock_->directory,
                            self->stuck_report());
    };
}

void sticky_line::granted(const std::string& path, const fencing_token& token) {
    path_ = path;
    token_ = token;
    unseen_ = false;
    term_ = core_.lease().term();
    report(&rules::sticky::granted);
}

void sticky_line::given_up() { report(&rules::sticky::given_up); }

void sticky_line::failed(error_code why) {
    if (core_.closed()) return on_closed(why);
    failure_ = why;
    report(&rules::sticky::failed);
}

void sticky_line::lost(error_code why) {
    if (core_.closed()) return on_closed(why);
    holder_key_ = 0;
    const auto holder = std::exchange(holder_, {});
    if (holder) holder->lost(why);
    failure_ = why;
    report(&rules::sticky::lost,
           why == errc::session_expired && lock_->on_expiry == on_expiry::fail);
}

void sticky_line::revoke_requested() {
    if (const auto holder = holder_) holder->revoke_requested();
    report(&rules::sticky::revoke_requested);
}

void sticky_line::on_lapse() { report(&rules::sticky::lapsed); }

void sticky_line::on_connected() { report(&rules::sticky::connected); }

void sticky_line::on_suspended() {
    failure_ = errc::not_connected;
    report(&rules::sticky::suspended);
}

void sticky_line::end_lingering() { report(&rules::sticky::end_lingering); }

void sticky_line::look_at_room() { report(&rules::sticky::look_at_room); }

void sticky_line::on_closed(error_code why) {
    const auto alive = shared_from_this();
    unlink();
    timer_.reset(); // it must not outlive the execution context
    stuck_.close();
    if (const auto holder = std::exchange(holder_, {})) holder->lost(why);
    for (const auto& [id, user] : std::exchange(waiters_, {}))
        user->failed(why);
}

/// Deletes and creates fire the watch, so the line hears of its own, too.
void sticky_line::watch() {
    if (!watch_)
        watch_ = std::make_shared<rearming_watch>(
            core_.watches(), lock_->directory, watch_kind::children,
            [this](watch_event) { report(&rules::sticky::children_changed); });
    const auto waiter = watch_->set();
    const auto look = ++looks_;
    list(
        core_.dispatcher(), lane::lock_work, lock_->directory,
        [self = shared_from_this(), look, waiter](int code, const std::vector<std::string>& names) {
            self->listed(look, waiter, code, names); // a watch that it has set is not forgotten
        },
        waiter != 0);
}

void sticky_line::listed(std::uint64_t look, watch_table::waiter_id waiter, int code,
                         const std::vector<std::string>& names) {
    using listing = rules::sticky::listing;
    const bool watched = watch_->answered(waiter, rules::judge(rules::request_kind::list, code) ==
                                                      rules::outcome::done);
    if (look != looks_) return; // of another node, or another connection
    if (!watched) return report(&rules::sticky::listed, listing::failed);
    const auto own = rules::name_of(path_);
    const auto found = std::count(names.begin(), names.end(), own);
    const bool company = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return name != own && lock_->names.read(name);
    });
    unseen_ = found == 0;
    if (unseen_) return report(&rules::sticky::listed, listing::gone);
    report(&rules::sticky::listed, company ? listing::company : listing::alone);
}

void sticky_line::keep(boot_clock::time_point until) {
    if (!is_linked()) core_.lease().keep(*this);
    if (lock_->sticky.linger.count() == 0 || std::exchange(timer_armed_, true)) return;
    if (!timer_) timer_ = core_.env().make_timer();
    timer_->arm(until, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->timer_armed_ = false;
        self->report(&rules::sticky::tick);
    });
}

} // namespace paddock::detail
