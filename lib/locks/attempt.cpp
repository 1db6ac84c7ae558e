#include "locks/attempt.hpp"

#include "locks/entering.hpp"

#include <utility>

namespace paddock::detail {

attempt::attempt(std::shared_ptr<const line_lock> what, handler<void(error_code, guard)>&& h,
                 kind how, rules::role as)
    : asking(what->client, std::move(h), how), lock_(std::move(what)), as_(as) {}

void attempt::begin() {
    line_ = line_of(*lock_);
    if (!only_if_free()) return enter();
    look_first(lock_, line_, as_, [self = self()](error_code why, bool free) {
        if (!self->open()) return;
        if (why)
            self->failed(why);
        else if (free)
            self->enter();
        else
            self->given_up();
    });
}

void attempt::enter() { key_ = line_->enter(self(), terms_of(*lock_, as_, only_if_free())); }

void attempt::granted(const std::string& path, std::int64_t czxid) {
    lock_->client->expect_returns();
    const auto granted =
        std::make_shared<hold>(lock_->client, self(), path, czxid,
                               lock_->names.has_shared() && as_ == rules::role::exclusive);
    hold_ = granted;
    finish({}, guard(granted));
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

void attempt::abandoned() {
    if (key_ != 0) line_->quit(key_);
}

} // namespace paddock::detail
