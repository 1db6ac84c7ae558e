#include "paddock_ways.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace paddock::test {

namespace {

using namespace asio::experimental::awaitable_operators;
using std::chrono::milliseconds;

asio::awaitable<guard> take_in_steps(mutex& lock) {
    ticket place = co_await lock.enqueue();
    guard hold = co_await std::move(place).acquired();
    co_return hold;
}

way mutex_way(const client& zk, const arguments& given, mutex_options options) {
    options.persistent_parents = given.contains("persistent_parents");
    const auto lock = std::make_shared<mutex>(zk, given.at("path"), options);
    return {
        .wait = [lock] { return lock->lock(asio::use_awaitable); },
        .wait_for =
            [lock](milliseconds limit) { return lock->try_lock_for(limit, asio::use_awaitable); },
        .at_once = [lock] { return lock->try_lock(asio::use_awaitable); },
        .step_by_step = [lock] { return take_in_steps(*lock); }};
}

/// The lock's path is that of a key.
way lock_family_way(const client& zk, const arguments& given, int) {
    const std::string& path = given.at("path");
    const auto slash = path.rfind('/');
    const std::string key = path.substr(slash + 1);
    const auto locks = std::make_shared<lock_family>(zk, path.substr(0, slash));
    return {.wait = [=] { return locks->lock(key, asio::use_awaitable); },
            .wait_for =
                [=](milliseconds limit) {
                    return locks->try_lock_for(key, limit, asio::use_awaitable);
                },
            .at_once = [=] { return locks->try_lock(key, asio::use_awaitable); }};
}

mutex_options named(naming names) {
    mutex_options options;
    options.naming = names;
    return options;
}

/// It only waits, so that there always is a waiter to pass the lock to.
way sticky_mutex_way(const client& zk, const arguments& given, int) {
    mutex_options options;
    options.persistent_parents = given.contains("persistent_parents");
    options.max_local_handoffs = 4;
    options.linger = milliseconds(20);
    const auto lock = std::make_shared<mutex>(zk, given.at("path"), options);
    return {.wait = [lock] { return lock->lock(asio::use_awaitable); }};
}

asio::awaitable<guard> take_twice(recursive_mutex& lock, owner by) {
    guard outer = co_await lock.lock(by);
    guard inner = co_await lock.lock(by);
    co_return inner; // which keeps it when the outer one is destroyed
}

way recursive_mutex_way(const client& zk, const arguments& given, int) {
    const auto lock = std::make_shared<recursive_mutex>(zk, given.at("path"));
    const owner by;
    return {
        .wait = [=] { return lock->lock(by, asio::use_awaitable); },
        .wait_for =
            [=](milliseconds limit) { return lock->try_lock_for(by, limit, asio::use_awaitable); },
        .at_once = [=] { return lock->try_lock(by, asio::use_awaitable); },
        .step_by_step = [=] { return take_twice(*lock, by); }};
}

way shared_mutex_way(const client& zk, const arguments& given, int number) {
    const auto lock = std::make_shared<shared_mutex>(zk, given.at("path"));
    if (number % 3 == 0)
        return {.weight = std::stoi(given.at("limit")),
                .wait = [lock] { return lock->lock(asio::use_awaitable); },
                .wait_for =
                    [lock](milliseconds limit) {
                        return lock->try_lock_for(limit, asio::use_awaitable);
                    },
                .at_once = [lock] { return lock->try_lock(asio::use_awaitable); },
                .downgrades = true};
    return {.wait = [lock] { return lock->lock_shared(asio::use_awaitable); },
            .wait_for =
                [lock](milliseconds limit) {
                    return lock->try_lock_shared_for(limit, asio::use_awaitable);
                },
            .at_once = [lock] { return lock->try_lock_shared(asio::use_awaitable); }};
}

asio::awaitable<guard> write_twice(const recursive_shared_mutex& lock, owner by) {
    guard outer = co_await lock.lock(by);
    guard inner = co_await lock.lock(by);
    co_return inner;
}

asio::awaitable<guard> read_after_writing(const recursive_shared_mutex& lock, owner by) {
    guard writes = co_await lock.lock(by);
    guard reads = co_await lock.lock_shared(by);
    co_await writes.unlock();
    co_return reads;
}

way recursive_shared_mutex_way(const client& zk, const arguments& given, int number) {
    const auto lock = std::make_shared<recursive_shared_mutex>(zk, given.at("path"));
    const owner by;
    if (number % 3 == 0)
        return {.weight = std::stoi(given.at("limit")),
                .wait = [=] { return lock->lock(by, asio::use_awaitable); },
                .wait_for =
                    [=](milliseconds limit) {
                        return lock->try_lock_for(by, limit, asio::use_awaitable);
                    },
                .at_once = [=] { return lock->try_lock(by, asio::use_awaitable); },
                .step_by_step = [=] { return write_twice(*lock, by); }};
    return {.wait = [=] { return lock->lock_shared(by, asio::use_awaitable); },
            .wait_for =
                [=](milliseconds limit) {
                    return lock->try_lock_shared_for(by, limit, asio::use_awaitable);
                },
            .at_once = [=] { return lock->try_lock_shared(by, asio::use_awaitable); },
            .step_by_step = [=] { return read_after_writing(*lock, by); }};
}

way election_way(const client& zk, const arguments& given, int number) {
    election_options options;
    options.id = given.at("name") + '.' + std::to_string(number);
    const auto votes = std::make_shared<election>(zk, given.at("path"), options);
    return {.wait = [votes] { return votes->campaign(asio::use_awaitable); }};
}

way semaphore_way(const client& zk, const arguments& given, int number) {
    const int permits = std::stoi(given.at("limit"));
    const auto room = std::make_shared<semaphore>(zk, given.at("path"), permits);
    const int count = std::min(1 + number % 2, permits);
    return {.weight = count,
            .wait = [=] { return room->acquire(count, asio::use_awaitable); },
            .wait_for =
                [=](milliseconds limit) {
                    return room->try_acquire_for(count, limit, asio::use_awaitable);
                },
            .at_once = [=] { return room->try_acquire(count, asio::use_awaitable); }};
}

using maker = std::function<way(const client&, const arguments&, int)>;

const std::map<std::string, maker> kinds = {
    {"mutex",
     [](auto& zk, auto& given, int) { return mutex_way(zk, given, named(naming::curator)); }},
    {"kazoo_mutex",
     [](auto& zk, auto& given, int) { return mutex_way(zk, given, named(naming::kazoo)); }},
    {"sticky_mutex", &sticky_mutex_way},
    {"lock_family", &lock_family_way},
    {"recursive_mutex", &recursive_mutex_way},
    {"shared_mutex", &shared_mutex_way},
    {"recursive_shared_mutex", &recursive_shared_mutex_way},
    {"election", &election_way},
    {"semaphore", &semaphore_way},
    {"semaphore_mutex", &semaphore_way}, // Curator's name for one with a single permit
};

asio::awaitable<guard> wait_or_cancel(const way& how) {
    auto first = co_await (how.wait() || pause(patience));
    guard hold;
    if (first.index() == 0) hold = std::move(std::get<0>(first));
    co_return hold;
}

} // namespace

way way_of(const arguments& given, const client& zk, int number) {
    return kinds.at(given.at("kind"))(zk, given, number);
}

asio::awaitable<guard> take(const way& how, int round) {
    switch (round % 6) {
    case 1:
        return how.wait_for ? how.wait_for(patience) : wait_or_cancel(how);
    case 3:
        return how.at_once ? how.at_once() : wait_or_cancel(how);
    case 4:
        return how.step_by_step ? how.step_by_step() : how.wait();
    case 5:
        return wait_or_cancel(how);
    default:
        return how.wait();
    }
}

asio::awaitable<void> pause(milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

} // namespace paddock::test
