// Semaphores over a healthy connection: the number of permits, and the order of callers.

#include "support/admin.hpp"
#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace paddock;
using namespace paddock::test;

namespace {

using codes = std::vector<std::int32_t>;

std::size_t watches(const semaphore_scene& s) {
    return count_watches_under(shared_server().admin_port(), s.path);
}

} // namespace

CO_TEST("a free permit is acquired, and released without a trace") {
    semaphore_scene s(executor);
    guard one = co_await s.pool.acquire();
    CHECK(one.valid());
    CHECK(one.path().starts_with(s.path + "/leases/_c_"));
    CHECK(one.path().find("-lease-") != std::string_view::npos);
    CHECK(one.fencing_token() == fencing_token{});
    co_await one.verify();
    co_await s.until(1, 0);
    co_await one.unlock();
    CHECK(s.leases().empty());
    co_await eventually([&] { return watches(s) == 0; });
}

CO_TEST("acquire() takes two round trips") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    s.proxy.forget_frames();
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    codes seen;
    for (const auto& f : s.proxy.snapshot().frames)
        if (f.way == direction::up && f.counts()) seen.push_back(f.opcode);
    seen.resize(5);
    CHECK(seen == codes{opcode::create2, opcode::children2, opcode::create2, opcode::create2,
                        opcode::children2});
    co_await unlocked(a);
}

CO_TEST("several clients never have more leases than permits, and are served in order") {
    semaphore_scene s(executor);
    client other(executor, shared_server().address());
    semaphore theirs(other, s.path, 2);
    std::vector<lock_call> all;
    for (std::size_t i = 0; i < 8; ++i) {
        all.push_back(i % 2 == 0 ? ask(s.pool) : ask(theirs));
        // Callers queue one after the other; those with a lease have left the queue.
        co_await eventually([&] {
            const auto served = static_cast<std::size_t>(
                std::count_if(all.begin(), all.end(), [](const auto& a) { return a->done(); }));
            return served == std::min<std::size_t>(i + 1, 2) && s.locks().size() == i + 1 - served;
        });
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        co_await granted(all[i]);
        if (i + 1 < all.size()) co_await granted(all[i + 1]);
        const auto served =
            std::count_if(all.begin(), all.end(), [](const auto& a) { return a->done(); });
        CHECK(served == static_cast<std::ptrdiff_t>(std::min(i + 2, all.size())));
        co_await unlocked(all[i]);
    }
    co_await s.until(0, 0);
}

CO_TEST("several permits are taken all or none, and released together") {
    semaphore_scene s(executor, 3);
    const auto two = ask(s.pool, 2);
    co_await granted(two);
    const auto again = ask(s.pool, 2);
    const auto one = ask(s.pool); // would fit, but comes later
    co_await s.until(4, 2);
    CHECK_FALSE(again->done());
    CHECK_FALSE(one->done());
    co_await unlocked(two);
    co_await granted(again);
    co_await granted(one);
    CHECK(s.leases().size() == 3);
    held(again) = guard();
    held(one) = guard();
    const auto everything = ask(s.pool, 3);
    co_await granted(everything);
    CHECK(s.leases().size() == 3);
    co_await unlocked(everything);
    CHECK(s.leases().empty());
}

CO_TEST("try_acquire writes nothing when there are too few permits, or a caller waits") {
    semaphore_scene s(executor);
    s.direct.make_path(s.path + "/leases");
    s.direct.make_path(s.path + "/locks");
    co_await s.zk.connect();
    const auto theirs = s.foreign_lease();
    s.proxy.forget_frames();
    const auto too_many = ask_now(s.pool, 2);
    co_await finished(too_many);
    CHECK_FALSE(too_many->error);
    CHECK_FALSE(held(too_many));
    const auto waiting = queue_up(s.direct, s.path + "/locks");
    const auto behind = ask_now(s.pool);
    co_await finished(behind);
    CHECK_FALSE(behind->error);
    CHECK_FALSE(held(behind));
    CHECK(s.sent(opcode::create2) == 0);
    s.direct.remove(waiting);
    const auto now = ask_now(s.pool);
    co_await granted(now);
    const auto late = ask_for(s.pool, 1, 0s);
    co_await finished(late);
    CHECK_FALSE(late->error);
    CHECK_FALSE(held(late));
    s.direct.remove(theirs);
    co_await unlocked(now);
}

CO_TEST("try_acquire without a connection") {
    semaphore_scene s(executor);
    s.proxy.refuse(true);
    const auto a = ask_now(s.pool);
    co_await finished(a);
    CHECK(a->error == errc::not_connected);
    const auto b = ask_for(s.pool, 1, 0s);
    co_await finished(b);
    CHECK(b->error == errc::not_connected);
    const auto c = ask_for(s.pool, 1, 50ms);
    co_await finished(c);
    CHECK(c->error == errc::not_connected);
}

CO_TEST("one time limit counts for the whole acquire(), which leaves nothing when it ends") {
    semaphore_scene s(executor);
    const auto a = ask(s.pool);
    co_await granted(a);
    const auto both = ask_for(s.pool, 2, 100ms);
    const auto behind = ask_for(s.pool, 1, scaled(8s));
    co_await eventually(
        [&] { return both->done() || (s.leases().size() == 3 && s.locks().size() == 2); });
    co_await finished(both);
    CHECK_FALSE(both->error);
    CHECK_FALSE(held(both));
    co_await finished(behind); // its turn comes in time
    CHECK(held(behind).valid());
    co_await s.until(2, 0);
    const auto never = ask_for(s.pool, 1, 50ms);
    co_await finished(never);
    CHECK_FALSE(held(never));
    co_await s.until(2, 0);
    const auto point = start<guard>([&](auto token) {
        s.pool.try_acquire_until(1, std::chrono::steady_clock::now() + 50ms, std::move(token));
    });
    co_await finished(point);
    CHECK_FALSE(held(point));
    co_await unlocked(a);
    co_await unlocked(behind);
    co_await s.until(0, 0);
}

CO_TEST("foreign leases count, whatever their names") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    s.direct.create(s.path + "/leases/odd", "", node_mode::ephemeral);
    const auto a = ask(s.pool);
    co_await s.until(3, 1);
    CHECK_FALSE(a->done());
    s.direct.remove(theirs);
    co_await granted(a);
    const auto curator = queue_up(s.direct, s.path + "/locks");
    s.direct.remove(s.path + "/leases/odd");
    const auto b = ask(s.pool);
    co_await s.until(1, 2);
    CHECK_FALSE(b->done()); // Curator is acquiring
    const auto their_lease = s.foreign_lease();
    s.direct.remove(curator);
    co_await s.until(3, 1);
    CHECK_FALSE(b->done());
    s.direct.remove(their_lease);
    co_await granted(b);
}

CO_TEST("a lease that is deleted while its owner waits is created again") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    const auto a = ask(s.pool, 2);
    co_await s.until(3, 1);
    const auto before = s.leases();
    for (const auto& name : before)
        if (s.path + "/leases/" + name != theirs) {
            s.direct.remove(s.path + "/leases/" + name);
            break;
        }
    co_await eventually([&] { return s.leases().size() == 3 && s.leases() != before; });
    CHECK_FALSE(a->done());
    s.direct.remove(theirs);
    co_await granted(a);
    CHECK(s.leases().size() == 2);
    co_await unlocked(a);
    co_await s.until(0, 0);
}

CO_TEST("a caller whose queue node is deleted while it waits for permits queues again") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    const auto a = ask(s.pool, 2);
    co_await s.until(3, 1);
    const auto place = s.locks().front();
    s.direct.remove(s.path + "/locks/" + place);
    co_await eventually([&] { return s.locks().size() == 1 && s.locks().front() != place; });
    CHECK_FALSE(a->done());
    s.direct.remove(theirs);
    co_await granted(a);
    co_await s.until(2, 0);
}

CO_TEST("a guard is lost with any of its leases, and deletes the rest when it is destroyed") {
    semaphore_scene s(executor, 3);
    const auto a = ask(s.pool, 2);
    const auto b = ask(s.pool);
    co_await granted(a);
    co_await granted(b);
    const auto told = end_of(held(a));
    const auto names = s.leases();
    const auto second = s.path + "/leases/" + names[1];
    REQUIRE(second != held(a).path());
    s.direct.remove(second);
    co_await finished(told);
    CHECK(told->error == errc::node_deleted);
    CHECK_FALSE(held(a).valid());
    CHECK(held(b).valid());
    co_await s.until(2, 0);
    held(a) = guard();
    co_await s.until(1, 0);
}

CO_TEST("a transaction is executed only while all leases exist") {
    semaphore_scene s(executor);
    const auto a = ask(s.pool, 2);
    co_await granted(a);
    std::vector<operation> steps{op::create{s.path + "/result", "1"}};
    const auto first = start<std::vector<operation_result>>(
        [&](auto token) { held(a).transaction(steps, std::move(token)); });
    co_await finished(first);
    CHECK_MESSAGE(!first->error, first->error.message());
    CHECK(std::get<0>(first->result).size() == 1);
    s.direct.remove(s.path + "/leases/" + s.leases()[1]);
    steps = {op::create{s.path + "/another", "1"}};
    const auto second = start<std::vector<operation_result>>(
        [&](auto token) { held(a).transaction(steps, std::move(token)); });
    co_await finished(second);
    CHECK(second->error == errc::lock_lost);
    CHECK_FALSE(s.direct.exists(s.path + "/another"));
}

CO_TEST("a waiter has one watch on the leases, and a holder has none") {
    semaphore_scene s(executor);
    const auto theirs = s.foreign_lease();
    const auto more = s.foreign_lease();
    std::vector<lock_call> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(ask(s.pool));
    co_await s.until(3, 5);
    s.proxy.forget_frames();
    s.direct.remove(theirs);
    co_await granted(all[0]);
    s.direct.remove(more);
    co_await granted(all[1]);
    co_await eventually([&] {
        return s.proxy.snapshot().count_if([&](const frame& f) {
            return f.opcode == opcode::notification && f.path == s.path + "/leases";
        }) >= 2;
    });
    // The leases of the first two once they are old enough, one listing of the directory, and the
    // places of the callers in the queue.
    co_await eventually([&] { return s.locks().size() == 3 && watches(s) <= 2 + 1 + 3; });
    for (auto& a : all) {
        co_await granted(a);
        co_await unlocked(a);
    }
    co_await eventually([&] { return watches(s) == 0; });
}

CO_TEST("one permit: a semaphore as a mutex") {
    semaphore_scene s(executor, 1);
    client other(executor, shared_server().address());
    semaphore theirs(other, s.path, 1);
    int inside = 0, turns = 0;
    const int rounds = test.full_or_brief(50, 10);
    const auto work = [&](semaphore& pool) -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            guard hold = co_await pool.acquire();
            CHECK(++inside == 1);
            ++turns;
            co_await asio::post(executor, asio::use_awaitable);
            --inside;
            co_await hold.unlock();
        }
    };
    int open = 2;
    for (auto* const pool : {&s.pool, &theirs})
        asio::co_spawn(executor, work(*pool), [&](std::exception_ptr failed) {
            CHECK(!failed);
            --open;
        });
    co_await eventually([&] { return open == 0; });
    CHECK(turns == 2 * rounds);
    co_await s.until(0, 0);
}

CO_TEST("a crowd of clients takes one to three of five permits, and never more than five") {
    semaphore_scene s(executor, 5);
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::unique_ptr<semaphore>> pools;
    int taken = 0, most = 0, open = 0;
    const int rounds = test.full_or_brief(12, 2);
    const auto work = [&](semaphore& pool, unsigned seed) -> asio::awaitable<void> {
        std::minstd_rand random(seed);
        for (int i = 0; i < rounds; ++i) {
            const int count = 1 + static_cast<int>(random() % 3);
            guard hold = co_await pool.acquire(count);
            taken += count;
            most = std::max(most, taken);
            CHECK(taken <= 5);
            co_await asio::post(executor, asio::use_awaitable);
            taken -= count;
            hold = guard();
        }
    };
    for (unsigned i = 0; i < 4; ++i) {
        clients.push_back(std::make_unique<client>(executor, shared_server().address()));
        pools.push_back(std::make_unique<semaphore>(*clients.back(), s.path, 5));
        for (unsigned k = 0; k < 3; ++k) {
            ++open;
            asio::co_spawn(executor, work(*pools.back(), 10 * i + k + 1),
                           [&](std::exception_ptr failed) {
                               CHECK(!failed);
                               --open;
                           });
        }
    }
    co_await eventually([&] { return open == 0; }, 50s);
    CHECK(most >= 3);
    co_await s.until(0, 0);
}

CO_TEST("the holders of a semaphore can be listed") {
    semaphore_scene s(executor, 2, {.label = "printer"});
    const auto empty = co_await s.pool.state();
    CHECK(empty.permits == 2);
    CHECK(empty.holders.empty());
    CHECK(empty.waiters.empty());
    const auto theirs = s.foreign_lease();
    const auto a = ask(s.pool);
    co_await granted(a);
    const auto b = ask(s.pool);
    const auto c = ask(s.pool);
    co_await s.until(3, 2);
    const auto now = co_await s.pool.state();
    REQUIRE(now.holders.size() == 3);
    CHECK(now.holders[0].path == theirs);
    CHECK(now.holders[0].label.empty());
    CHECK(now.holders[1].path == held(a).path());
    CHECK(now.holders[1].label == "printer");
    CHECK(now.holders[1].session == s.zk.session_id());
    REQUIRE(now.waiters.size() == 2);
    CHECK(now.waiters[0].sequence < now.waiters[1].sequence);
    CHECK(now.waiters[0].label == "printer");
    b->cancel();
    c->cancel();
    co_await finished(b);
    co_await finished(c);
    co_await s.until(2, 0);
}
