#include "take.hpp"

#include "message.hpp"

#include <paddock/first_of.hpp>
#include <paddock/lock_all.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_lock_family.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/ticket.hpp>
#if PADDOCK_HAS_REDIS
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>
#endif

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <variant>

namespace cli {

namespace {

/// The two ways to take a lock of any kind.
struct operations {
    std::function<asio::awaitable<paddock::ticket>()> enqueue;
    std::function<asio::awaitable<paddock::guard>()> try_lock;
};

template <typename Options>
Options options_of(const lock_choice& lock) {
    Options options;
    options.label = lock.label;
    return options;
}

template <typename Lock, typename... Key>
operations as_only_one(Lock lock, Key... key) {
    const auto token = asio::use_awaitable;
    return {[=] { return lock.enqueue(key..., token); },
            [=] { return lock.try_lock(key..., token); }};
}

template <typename Lock, typename... Key>
operations as_reader(Lock lock, Key... key) {
    const auto token = asio::use_awaitable;
    return {[=] { return lock.enqueue_shared(key..., token); },
            [=] { return lock.try_lock_shared(key..., token); }};
}

operations operations_of(paddock::client& zk, const lock_choice& lock) {
    const auto readers = options_of<paddock::shared_mutex_options>(lock);
    const auto alone = options_of<paddock::mutex_options>(lock);
    if (!lock.key.empty()) {
        const auto &family = lock.key.at(0), &key = lock.key.at(1);
        if (lock.shared) return as_reader(paddock::shared_lock_family(zk, family, readers), key);
        if (lock.exclusive)
            return as_only_one(paddock::shared_lock_family(zk, family, readers), key);
        return as_only_one(paddock::lock_family(zk, family, alone), key);
    }
    const auto& path = lock.paths.at(0);
    if (lock.shared) return as_reader(paddock::shared_mutex(zk, path, readers));
    if (lock.exclusive) return as_only_one(paddock::shared_mutex(zk, path, readers));
    if (lock.permits == 0) return as_only_one(paddock::mutex(zk, path, alone));
    const auto token = asio::use_awaitable;
    const paddock::semaphore permits(zk, path, lock.permits,
                                     options_of<paddock::semaphore_options>(lock));
    return {[=] { return permits.enqueue(token); }, [=] { return permits.try_acquire(token); }};
}

paddock::lock_request request_of(paddock::client& zk, const lock_choice& lock,
                                 const std::string& path) {
    const auto readers = options_of<paddock::shared_mutex_options>(lock);
    if (lock.shared) return paddock::shared(paddock::shared_mutex(zk, path, readers));
    if (lock.exclusive) return paddock::exclusive(paddock::shared_mutex(zk, path, readers));
    return paddock::mutex(zk, path, options_of<paddock::mutex_options>(lock));
}

/// Shows the line, each second anew, until it is cancelled.
asio::awaitable<void> show(waiting_line& told, std::size_t ahead,
                           const std::optional<paddock::contender>& holder) {
    asio::steady_timer tick(co_await asio::this_coro::executor);
    for (;;) {
        told.show(ahead, holder);
        tick.expires_after(std::chrono::seconds(1));
        co_await tick.async_wait(asio::use_awaitable);
    }
}

/// Until this is the next one, or the lock is granted.
asio::awaitable<void> show_the_way(paddock::ticket& place, waiting_line& told) {
    while (place.position() > 0) {
        const auto ahead = place.position();
        const auto holder = co_await place.holder(asio::use_awaitable);
        if (place.position() != ahead) continue; // it has changed already
        const auto changed = [&]() -> asio::awaitable<void> {
            co_await place.next_change(asio::use_awaitable);
        };
        co_await paddock::first_of(changed(), show(told, ahead, holder));
    }
}

/// The first that waits; it waits only if this is a semaphore.
asio::awaitable<void> show_as_next(waiting_line& told) {
    asio::steady_timer moment(co_await asio::this_coro::executor, std::chrono::milliseconds(300));
    co_await moment.async_wait(asio::use_awaitable); // most locks come sooner
    co_await show(told, 0, {});
}

asio::awaitable<paddock::guard> queue(const operations& lock, waiting_line& told) {
    auto place = co_await lock.enqueue();
    if (!told.wanted()) co_return co_await place.acquired(asio::use_awaitable);
    co_await show_the_way(place, told);
    const auto granted = [&]() -> asio::awaitable<paddock::guard> {
        co_return co_await place.acquired(asio::use_awaitable);
    };
    auto first = co_await paddock::first_of(show_as_next(told), granted());
    co_return std::get<1>(std::move(first));
}

asio::awaitable<void> pass(const deadline& at) {
    const auto left = at ? *at - paddock::boot_clock::now() : std::chrono::hours(24 * 365);
    asio::steady_timer timer(co_await asio::this_coro::executor, left);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<std::unique_ptr<holding>> take_on_zookeeper(paddock::client& zk,
                                                            const lock_choice& lock,
                                                            const deadline& until,
                                                            waiting_line& told) {
    const bool only_try = until && *until <= paddock::boot_clock::now();
    const auto left = until ? *until - paddock::boot_clock::now() : std::chrono::hours(24 * 365);
    if (lock.all) {
        std::vector<paddock::lock_request> all;
        for (const auto& path : lock.paths)
            all.push_back(request_of(zk, lock, path));
        const auto limit = std::max(left, std::chrono::nanoseconds(0));
        auto held = co_await paddock::try_lock_all_for(all, limit, asio::use_awaitable);
        if (!held) co_return nullptr;
        co_return std::make_unique<held_by<paddock::guard_set>>(std::move(held));
    }
    const auto how = operations_of(zk, lock);
    if (only_try) co_return hold(co_await how.try_lock());
    auto first = co_await paddock::first_of(queue(how, told), pass(until));
    if (first.index() == 1) co_return nullptr;
    co_return hold(std::get<0>(std::move(first)));
}

#if PADDOCK_HAS_REDIS
template <typename Limited, typename Unlimited>
asio::awaitable<std::unique_ptr<holding>> until(const deadline& at, Limited limited,
                                                Unlimited unlimited) {
    if (!at) co_return hold(co_await unlimited());
    const auto left = std::max(*at - paddock::boot_clock::now(), std::chrono::nanoseconds(0));
    co_return hold(co_await limited(left));
}

asio::awaitable<std::unique_ptr<holding>>
take_on_redis(paddock::redis::client& at, const lock_choice& lock, const deadline& limit) {
    const auto token = asio::use_awaitable;
    auto options = options_of<paddock::redis::mutex_options>(lock);
    if (options.label.empty()) options.label = "paddock"; // without one nobody sees who holds it
    if (lock.key.empty()) {
        const paddock::redis::mutex mutex(at, lock.paths.at(0), options);
        co_return co_await until(
            limit, [&](auto left) { return mutex.try_lock_for(left, token); },
            [&] { return mutex.lock(token); });
    }
    const paddock::redis::lock_family all(at, lock.key.at(0), options);
    const auto& key = lock.key.at(1);
    co_return co_await until(
        limit, [&](auto left) { return all.try_lock_for(key, left, token); },
        [&] { return all.lock(key, token); });
}
#endif

} // namespace

std::string lock_choice::name() const {
    if (!key.empty()) return key.at(0) + '/' + key.at(1);
    std::string lines;
    for (const auto& path : paths)
        lines += (lines.empty() ? "" : "\n") + path;
    return lines;
}

std::unique_ptr<holding> hold(paddock::guard held) {
    if (!held) return nullptr;
    return std::make_unique<held_by<paddock::guard>>(std::move(held));
}

void check(const lock_choice& lock, servers& at) {
    const std::size_t locks = lock.key.empty() ? lock.paths.size() : 1;
    if (!lock.key.empty() && (!lock.paths.empty() || lock.all))
        throw usage_error("--key FAMILY KEY stands instead of PATH");
    if (locks == 0) throw usage_error("a PATH is missing: the lock, such as /locks/nightly");
    if (locks > 1 && !lock.all)
        throw usage_error(
            "for several locks give --all; a TIME has no space, and a command stands behind --");
    if (lock.shared && lock.exclusive) throw usage_error("--shared does not go with --exclusive");
    if (locks > 1000 || lock.name().size() > longest_text / 2)
        throw usage_error("too many, or too long, paths");
    if (lock.permits > 0 && (lock.shared || lock.exclusive || lock.all || !lock.key.empty()))
        throw usage_error("--semaphore does not go with --shared, --exclusive, --all and --key");
    if (!at.on_redis()) return;
    if (lock.shared) at.zk("--shared");
    if (lock.exclusive) at.zk("--exclusive");
    if (lock.permits > 0) at.zk("--semaphore");
    if (lock.all) at.zk("--all");
}

asio::awaitable<std::unique_ptr<holding>> take(servers& at, const lock_choice& lock, deadline limit,
                                               waiting_line& told) {
    std::unique_ptr<holding> held;
#if PADDOCK_HAS_REDIS
    if (at.on_redis()) held = co_await take_on_redis(at.redis(), lock, limit);
#endif
    if (!at.on_redis()) held = co_await take_on_zookeeper(at.zk("the lock"), lock, limit, told);
    told.clear();
    co_return held;
}

} // namespace cli
