#include "sim/redis/model.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

using kind = redis::rules::answer::kind;

redis_model::microseconds redis_model::clock(time_point now) const {
    const auto passed = std::chrono::duration_cast<microseconds>(now - base_);
    return clock_base_ + passed + passed * gain_ / 1000;
}

void redis_model::slew(time_point now, int thousandths) {
    clock_base_ = clock(now);
    base_ = now;
    gain_ = thousandths;
}

void redis_model::forget() {
    key_.reset();
    since_.reset();
    counter_ = 0;
}

void redis_model::set_by_others(time_point now, std::string value, milliseconds ttl) {
    if (!has_key(now)) key_ = {std::move(value), clock(now) + ttl};
}

bool redis_model::has_key(time_point now) {
    if (key_ && key_->end <= clock(now)) key_.reset();
    return key_.has_value();
}

/// `left` says how young the server is.
redis_model::answer redis_model::look(time_point now, milliseconds max_ttl) {
    answer out;
    out.clock = clock(now);
    if (!since_) since_ = out.clock;
    out.left =
        std::max(milliseconds(0), std::chrono::ceil<milliseconds>(*since_ + max_ttl - out.clock));
    return out;
}

redis_model::answer redis_model::taken(time_point now) const {
    answer out;
    out.what = kind::taken;
    out.clock = clock(now);
    out.left = std::chrono::duration_cast<milliseconds>(key_->end - out.clock);
    out.holder = key_->value.substr(0, 128);
    return out;
}

redis_model::answer redis_model::acquire(time_point now, const terms& call) {
    auto out = look(now, call.max_ttl);
    out.what = kind::young;
    if (out.left != milliseconds(0)) return out;
    if (has_key(now)) return taken(now);
    key_ = {call.value, out.clock + call.ttl};
    counter_ = std::max(counter_ + 1, static_cast<std::int64_t>(out.clock.count()));
    out.what = kind::granted;
    out.token = counter_;
    return out;
}

redis_model::answer redis_model::renew(time_point now, const terms& call, std::int64_t token) {
    auto out = look(now, call.max_ttl);
    const bool there = has_key(now);
    if (there && key_->value != call.value) return taken(now);
    out.what = there ? kind::renewed : kind::set;
    key_ = {call.value, out.clock + call.ttl};
    counter_ = std::max(counter_, token);
    return out;
}

redis_model::answer redis_model::release(time_point now, const std::string& value) {
    answer out;
    out.what = has_key(now) && key_->value == value ? kind::released : kind::gone;
    if (out.what == kind::released) key_.reset();
    return out;
}

} // namespace paddock::test::sim
