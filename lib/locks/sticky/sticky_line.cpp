#include "locks/sticky/sticky_line.hpp"

#include "locks/sticky/sticky_lines.hpp"
#include "rules/paths.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

sticky_line::sticky_line(sticky_lines& lines, std::shared_ptr<const fair_lock> lock)
    : rules_driver(*lock->client)
    , lines_(lines)
    , lock_(std::move(lock))
    , queue_(queue_of(*lock_))
    , use_(core_) {
    rules_.emplace(lock_->sticky);
    if (core_.state() == client_state::connected) rules_->connected();
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

void sticky_line::update_rules() {
    rules_->same_term(core_.lease().has(term_));
    rules_->budgets(room_of(core_));
}

void sticky_line::after_actions() {
    if (!rules_) return;
    // The node was deleted before the watch was set: no event will come of that.
    if (unseen_ && (rules_->idle() || rules_->joining())) watch_->forget();
    if (waiters_.empty() && !holder_) use_.end();
    if (!over()) return;
    timer_.reset(); // a guard of a lost hold may keep the line beyond its execution context
    end_rules();
    lines_.forget(*this);
}

void sticky_line::carry_out(const rules::sticky_act::join& a) {
    auto terms = terms_of(*lock_, rules::role::exclusive, a.immediate);
    terms.uses_path = false;
    queue_key_ = queue_->next_key();
    queue_->join(queue_key_, shared_from_this(), std::move(terms));
}

void sticky_line::carry_out(const rules::sticky_act::quit&) {
    queue_->quit(std::exchange(queue_key_, 0));
}

void sticky_line::carry_out(const rules::sticky_act::release&) {
    queue_->release(std::exchange(queue_key_, 0), false);
}

void sticky_line::carry_out(const rules::sticky_act::keep& a) {
    if (!is_linked()) core_.lease().keep(*this);
    if (lock_->sticky.linger.count() == 0 || std::exchange(timer_armed_, true)) return;
    if (!timer_) timer_ = core_.env().make_timer();
    timer_->arm(a.until, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->timer_armed_ = false;
        self->report(&rules::sticky::tick);
    });
}

void sticky_line::carry_out(const rules::sticky_act::unkeep&) { unlink(); }

void sticky_line::carry_out(const rules::sticky_act::grant& a) {
    holder_key_ = a.who;
    holder_ = take_waiter(a.who);
    holder_->granted(path_, {token_.zxid, token_.sub + a.count});
}

void sticky_line::carry_out(const rules::sticky_act::busy& a) { take_waiter(a.who)->given_up(); }

void sticky_line::carry_out(const rules::sticky_act::fail& a) {
    take_waiter(a.who)->failed(failure_);
}

std::shared_ptr<queue_user> sticky_line::take_waiter(rules::contender_key key) {
    const auto it = waiters_.find(key);
    auto user = std::move(it->second);
    waiters_.erase(it);
    return user;
}

void sticky_line::join(rules::contender_key key, std::shared_ptr<queue_user> user,
                       entry_terms how) {
    if (const auto why = use_.begin(directory(), rules::kind_of(lock_->names))) {
        user->failed(why);
        return after_actions(); // perhaps it was made for this call
    }
    waiters_.emplace(key, std::move(user));
    report(&rules::sticky::join, key, how.rules.immediate);
}

void sticky_line::quit(rules::contender_key key) {
    if (waiters_.erase(key) > 0) report(&rules::sticky::quit, key);
}

void sticky_line::release(rules::contender_key key, bool passable) {
    if (key != holder_key_) return; // its node was lost
    holder_key_ = 0;
    holder_.reset();
    report(&rules::sticky::released, passable);
}

bool sticky_line::known_blocked(rules::contender_key, rules::role) const {
    if (!rules_) return false;
    return rules_->held() ||
           (rules_->joining() && queue_->known_blocked(queue_key_, rules::role::exclusive));
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

void sticky_line::on_suspended() {
    failure_ = errc::not_connected;
    rules_driver::on_suspended();
}

void sticky_line::end_lingering() { report(&rules::sticky::end_lingering); }

void sticky_line::look_at_room() { report(&rules::sticky::look_at_room); }

void sticky_line::on_closed(error_code why) {
    const auto alive = shared_from_this();
    unlink();
    timer_.reset(); // it must not outlive the execution context
    end_rules();
    if (const auto holder = std::exchange(holder_, {})) holder->lost(why);
    for (const auto& [id, user] : std::exchange(waiters_, {}))
        user->failed(why);
}

/// Deletes and creates fire the watch, so the line hears of its own, too.
void sticky_line::carry_out(const rules::sticky_act::watch&) {
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
    if (look != looks_ || core_.closed()) return; // of another node, or another connection
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

} // namespace paddock::detail
