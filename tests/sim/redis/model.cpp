#include "sim/redis/model.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace paddock::test::sim {

using kind = redis::rules::answer::kind;

namespace {

/// The time to live in one of this library's values.
std::chrono::milliseconds ttl_in(const std::string& value) {
    constexpr std::size_t prefix = 5;
    if (!redis::rules::is_lock_value(value)) return {};
    return std::chrono::milliseconds(std::atoll(value.c_str() + prefix));
}

} // namespace

redis_model::microseconds redis_model::clock(time_point now) const {
    const auto passed = std::chrono::duration_cast<microseconds>(now - base_);
    return clock_base_ + passed + passed * gain_ / 1000;
}

void redis_model::slew(time_point now, int thousandths) {
    clock_base_ = clock(now);
    base_ = now;
    gain_ = thousandths;
}

void redis_model::restart(const data& with) {
    data_ = data(with); // it may be our own
    run_id_ = std::to_string(++restarts_);
}

void redis_model::follow(const data& of) {
    data_ = data(of);
    ++masters_;
}

void redis_model::come_of_age(time_point now, milliseconds max_ttl, int servers) {
    data_.marker = one_marker{id(), clock(now) - max_ttl, max_ttl, servers};
}

void redis_model::set_by_others(time_point now, std::string value, std::optional<milliseconds> ttl,
                                const std::string& lock) {
    if (has_key(now, lock)) return;
    auto& key = data_.locks[lock].key.emplace();
    key.value = std::move(value);
    if (ttl) key.end = clock(now) + *ttl;
}

bool redis_model::has_key(time_point now, one_lock& one) const {
    if (one.key && one.key->end && *one.key->end <= clock(now)) one.key.reset();
    return one.key.has_value();
}

bool redis_model::has_key(time_point now, const std::string& lock) {
    return has_key(now, data_.locks[lock]);
}

std::size_t redis_model::keys(time_point now) {
    return static_cast<std::size_t>(
        std::count_if(data_.locks.begin(), data_.locks.end(), [&](auto& one) {
            return has_key(now, one.second) && redis::rules::is_lock_value(one.second.key->value);
        }));
}

/// `left` says how young the server is.
redis_model::answer redis_model::look(time_point now, const terms& call) {
    answer out;
    out.clock = clock(now);
    auto& marker = data_.marker;
    if (marker && (marker->max_ttl != call.max_ttl || marker->servers != call.servers)) {
        out.what = kind::mismatch;
        return out;
    }
    if (!marker || marker->id != id() || marker->since > out.clock) {
        const bool is_old = !marker && call.trusts_new_servers;
        const auto since = is_old ? out.clock - microseconds(call.max_ttl) : out.clock;
        marker = one_marker{id(), since, call.max_ttl, call.servers};
    }
    out.left = std::max(milliseconds(0),
                        std::chrono::ceil<milliseconds>(marker->since + call.max_ttl - out.clock));
    return out;
}

redis_model::answer redis_model::taken(time_point now, one_lock& one, const terms& call) const {
    answer out;
    out.what = kind::taken;
    out.clock = clock(now);
    auto& key = *one.key;
    out.left = milliseconds(-1);
    if (key.end) out.left = std::chrono::duration_cast<milliseconds>(*key.end - out.clock);
    const auto own = ttl_in(key.value);
    if (own.count() > 0 && own <= call.max_ttl && (!key.end || out.left > own)) {
        key.end = out.clock + own;
        out.left = own;
    }
    out.holder = key.value.substr(0, 128);
    return out;
}

redis_model::answer redis_model::acquire(time_point now, const terms& call) {
    auto out = look(now, call);
    if (out.what == kind::mismatch) return out;
    out.what = kind::young;
    if (out.left != milliseconds(0)) return out;
    auto& one = data_.locks[call.lock];
    if (has_key(now, one)) return taken(now, one, call);
    one.key = one_key{call.value, out.clock + call.ttl};
    one.counter = std::max(one.counter + 1, static_cast<std::int64_t>(out.clock.count()));
    out.what = kind::granted;
    out.token = one.counter;
    return out;
}

redis_model::answer redis_model::renew(time_point now, const terms& call, std::int64_t token) {
    auto out = look(now, call);
    if (out.what == kind::mismatch) return out;
    auto& one = data_.locks[call.lock];
    const bool there = has_key(now, one);
    if (there && one.key->value != call.value) return taken(now, one, call);
    out.what = there ? kind::renewed : kind::set;
    one.key = one_key{call.value, out.clock + call.ttl};
    one.counter = std::max(one.counter, token);
    return out;
}

bool redis_model::is_held(time_point now, const std::string& lock) {
    return has_key(now, data_.locks[lock]);
}

redis_model::answer redis_model::release(time_point now, const std::string& value,
                                         const std::string& lock) {
    answer out;
    auto& one = data_.locks[lock];
    out.what = has_key(now, one) && one.key->value == value ? kind::released : kind::gone;
    if (out.what == kind::released) one.key.reset();
    return out;
}

} // namespace paddock::test::sim
