#include "locks/attempt.hpp"

#include "line/line_table.hpp"
#include "locks/metadata.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <utility>

namespace paddock::detail {

attempt::attempt(std::shared_ptr<const line_lock> what, handler<void(error_code, guard)>&& h,
                 kind how, rules::role as)
    : lock_(std::move(what))
    , user_(lock_->client->get_executor(), std::move(h))
    , kind_(how)
    , as_(as) {}

void attempt::launch(std::optional<std::chrono::nanoseconds> limit) {
    user_.on_cancel([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->lock_->client->post([self] { self->abandon(asio::error::operation_aborted); });
    });
    lock_->client->post([self = shared_from_this(), limit] { self->begin(limit); });
}

void attempt::begin(std::optional<std::chrono::nanoseconds> limit) {
    auto& client = *lock_->client;
    if (!user_) return;
    if (client.closed()) return finish(client.close_reason(), {});
    client.start();
    client.take_returns();
    line_ = line_table::of(client).find(lock_->directory, lock_->names);
    limited_ = limit.has_value();
    if (limited_ && limit->count() <= 0) kind_ = kind::only_if_free;
    if (kind_ == kind::only_if_free) return look_first();
    if (limited_) {
        deadline_ = client.env().make_timer();
        deadline_->arm(client.env().now() + *limit, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->abandon({});
        });
    }
    enter();
}

/// Nothing is written when the lock is taken: what this client knows comes first, then a listing.
void attempt::look_first() {
    auto& client = *lock_->client;
    if (client.state() != client_state::connected) return failed(errc::not_connected);
    if (line_->occupied(as_)) return given_up();
    if (lock_->sync_first) catch_up(client, lane::user, line_->directory());
    list(client, lane::user, line_->directory(),
         [self = shared_from_this()](int code, std::vector<std::string> names) {
             self->looked(code, names);
         });
}

void attempt::looked(int code, const std::vector<std::string>& names) {
    auto& client = *lock_->client;
    if (!user_) return;
    if (client.closed()) return finish(client.close_reason(), {});
    switch (rules::judge(rules::request::list, code)) {
    case rules::outcome::done:
    case rules::outcome::missing:
        break;
    case rules::outcome::lost:
    case rules::outcome::not_sent:
        return failed(errc::not_connected);
    default:
        return failed(zookeeper_error(code));
    }
    if (line_->taken(names, as_) || line_->occupied(as_)) return given_up();
    enter();
}

void attempt::enter() {
    key_ = line_->enter(shared_from_this(),
                        {.rules = {.as = as_,
                                   .names = lock_->style,
                                   .immediate = kind_ == kind::only_if_free,
                                   .fail_on_expiry = lock_->on_expiry == on_expiry::fail},
                         .fail_over_budget = kind_ == kind::only_if_free ||
                                             lock_->on_over_budget == on_over_budget::fail,
                         .persistent_parents = lock_->persistent_parents,
                         .acl = lock_->acl,
                         .data = lock_->data.at(lock_->client->env().wall_clock())});
}

void attempt::granted(const std::string& path, std::int64_t czxid) {
    lock_->client->expect_returns();
    const auto granted =
        std::make_shared<hold>(lock_->client, shared_from_this(), path, czxid,
                               lock_->names.has_shared() && as_ == rules::role::exclusive);
    hold_ = granted;
    finish({}, guard(granted));
}

void attempt::failed(error_code why) {
    // A limit of nothing asks whether the lock is to be had now: without a connection it is not.
    if (limited_ && why == errc::not_connected) return given_up();
    const bool would_wait =
        kind_ == kind::only_if_free && lock_->on_over_budget == on_over_budget::wait;
    if (would_wait && why == errc::over_budget) return given_up();
    finish(why, {});
}

void attempt::lost(error_code why) {
    if (const auto held = hold_.lock()) held->end(why);
}

void attempt::when_gone(unique_function<void(error_code)> gone) {
    if (const auto held = hold_.lock())
        lock_->client->sweeper().when_gone(held->full_path(), std::move(gone));
}

void attempt::downgrade() { line_->downgrade(key_); }

void attempt::asked_back() {
    const auto held = hold_.lock();
    if (!held) return;
    held->ask_back();
    if (lock_->revocable) held->end(errc::revoked);
}

void attempt::downgraded(const std::string& path) {
    if (const auto held = hold_.lock()) held->downgraded(path);
}

/// Nobody waits any more: out of time, or cancelled.
void attempt::abandon(error_code why) {
    if (!user_) return;
    finish(why, {});
    if (key_ != 0) line_->quit(key_);
}

void attempt::finish(error_code why, guard result) {
    deadline_.reset();
    if (user_) user_.complete(why, std::move(result));
}

} // namespace paddock::detail
