// Contenders that wait for long behind a hold of their own client, and perhaps for themselves.

#include "rules/simple.hpp"
#include "stepped_queue.hpp"
#include "unit/taken.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 10s;

std::string in_words(const rules::stuck_waiters& all) {
    const auto count = std::to_string(all.count);
    if (!all.next) return count;
    const auto next =
        std::chrono::duration_cast<std::chrono::seconds>(all.next->time_since_epoch());
    return count + ", look again at " + std::to_string(next.count());
}

struct timed_queue : connected_queue {
    using connected_queue::connected_queue;

    void at(boot_clock::duration t) { queue.now(boot_clock::time_point(t)); }
    std::string stuck_at(boot_clock::duration t) {
        at(t);
        return in_words(queue.stuck(patience));
    }
    bool perhaps() const { return queue.perhaps_stuck(); }
};

} // namespace

TEST_CASE("a waiter behind a hold of the same client is stuck after a while, and is counted once") {
    timed_queue queue;
    queue.at(1s);
    CHECK(queue.waits(1, 0, {0}) == "create 1, list, grant 1");
    CHECK_FALSE(queue.perhaps());
    queue.at(3s);
    queue.waits(2, 1, {0, 1});
    CHECK(queue.perhaps());
    queue.at(5s);
    queue.waits(3, 2, {0, 1, 2});
    CHECK(queue.stuck_at(12s) == "0, look again at 13");
    CHECK(queue.stuck_at(13s) == "1, look again at 15");
    CHECK(queue.stuck_at(15s) == "1");
    CHECK_FALSE(queue.perhaps());
    CHECK(queue.stuck_at(1000s) == "0");
    queue.waits(4, 3, {0, 1, 2, 3});
    CHECK(queue.perhaps());
    queue.quit(4);
    CHECK_FALSE(queue.perhaps());
}

TEST_CASE("a waiter behind one hold after the other is not stuck") {
    timed_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.waits(3, 2, {0, 1, 2});
    queue.own_watched(2);
    queue.own_watched(3);
    queue.at(9s);
    CHECK(queue.release(1).find("grant 2") != std::string::npos);
    CHECK(queue.stuck_at(18s) == "0, look again at 19");
    CHECK(queue.stuck_at(19s) == "1");
    queue.release(2);
    CHECK_FALSE(queue.perhaps());
}

TEST_CASE("a waiter behind another client alone is not stuck, however long it waits") {
    timed_queue queue;
    queue.waits(1, 5, {3, 5});
    queue.waits(2, 6, {3, 5, 6});
    CHECK_FALSE(queue.perhaps());
    CHECK(queue.stuck_at(1000s) == "0");
}

TEST_CASE("a waiter is stuck also with another client's waiter between it and the hold") {
    timed_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 7, {0, 3, 7});
    CHECK(queue.perhaps());
    CHECK(queue.stuck_at(10s) == "1");
}

TEST_CASE("a stuck waiter whose node was deleted is not counted again in its new place") {
    timed_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    CHECK(queue.stuck_at(10s) == "1");
    queue.deleted(1);
    CHECK_FALSE(queue.perhaps());
    queue.created(2, 4);
    queue.listed({0, 4});
    CHECK_FALSE(queue.perhaps());
    CHECK(queue.stuck_at(1000s) == "0");
}

TEST_CASE("nothing is left of a session that has ended") {
    timed_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    queue.waits(3, 2, {0, 1, 2});
    CHECK(queue.stuck_at(10s) == "2");
    queue.expired();
    CHECK_FALSE(queue.perhaps());
    queue.connected();
    queue.created(2, 10);
    queue.listed({10});
    queue.created(3, 11);
    queue.listed({10, 11});
    CHECK_FALSE(queue.perhaps()); // 2 holds, and 3 was counted before
    queue.release(2);
    queue.waits(4, 12, {11, 12});
    CHECK(queue.perhaps());
}

TEST_CASE("readers that share the lock are not stuck, those behind a writer are") {
    timed_queue queue(rules::naming::of_shared_mutex());
    const rules::contender_terms reader{.as = rules::role::shared};
    queue.join(1, reader);
    queue.created(1, 0);
    CHECK(queue.listed({0}) == "grant 1");
    queue.join(2, reader);
    queue.created(2, 1); // not known to exist, and so not granted
    CHECK(queue.stuck_at(20s) == "0");
    queue.listed({0, 1});
    queue.join(3, {.as = rules::role::exclusive});
    queue.created(3, 2);
    queue.join(4, reader);
    queue.created(4, 3);
    CHECK(queue.stuck_at(30s) == "2");
}

TEST_CASE("a contender that only passes the queue is stuck while a hold beyond it lasts") {
    timed_queue queue;
    const rules::contender_terms waits_for_turn{.turn_only = true};
    for (const contender_key key : {1, 2})
        queue.join(key, waits_for_turn);
    queue.created(1, 0);
    queue.created(2, 1);
    CHECK(queue.listed({0, 1}) == "grant 1, list");
    queue.listed({0, 1});
    CHECK_FALSE(queue.perhaps());
    queue.at(5s);
    queue.queue.outside_hold(true);
    CHECK(queue.perhaps());
    CHECK(queue.stuck_at(14s) == "0, look again at 15");
    queue.queue.outside_hold(true);
    queue.queue.outside_hold(false); // something moves
    CHECK(queue.stuck_at(23s) == "0, look again at 24");
    CHECK(queue.stuck_at(24s) == "2");
    queue.queue.outside_hold(false);
    CHECK_FALSE(queue.perhaps());
}

TEST_CASE("a waiter for a simple lock that the same client holds is stuck after a while") {
    rules::claims ids;
    ids.begin(1);
    rules::simple lock(ids, {});
    const auto at = [&](boot_clock::duration t) { lock.now(boot_clock::time_point(t)); };
    const auto race = [&] {
        taken(lock);
        lock.reserved();
        return std::get<rules::simple_act::race>(taken(lock).front()).id;
    };
    lock.connected();
    lock.join(1, false);
    const auto id = race();
    SUBCASE("through this object") {
        lock.raced(id, outcome::done, 0);
        lock.looked(1, {.result = outcome::done, .own_data = true, .of_session = true, .czxid = 5});
        at(2s);
        lock.join(2, false);
    }
    SUBCASE("through another object") {
        at(2s);
        lock.raced(id, outcome::refused, static_cast<int>(zk_errc::node_exists));
        lock.looked(1, {.result = outcome::done, .of_session = true, .czxid = 5});
    }
    CHECK(lock.perhaps_stuck());
    at(11s);
    CHECK(in_words(lock.stuck(patience)) == "0, look again at 12");
    at(12s);
    CHECK(in_words(lock.stuck(patience)) == "1");
    CHECK_FALSE(lock.perhaps_stuck());
}

TEST_CASE("a waiter for a simple lock that another client holds is not stuck") {
    rules::claims ids;
    ids.begin(1);
    rules::simple lock(ids, {});
    lock.connected();
    lock.join(1, false);
    taken(lock);
    lock.reserved();
    const auto id = std::get<rules::simple_act::race>(taken(lock).front()).id;
    lock.raced(id, outcome::refused, static_cast<int>(zk_errc::node_exists));
    lock.looked(1, {.result = outcome::done, .czxid = 5});
    CHECK_FALSE(lock.perhaps_stuck());
    lock.now(boot_clock::time_point(1000s));
    CHECK(in_words(lock.stuck(patience)) == "0");
}
