// Revoking a hold, and kicking a contender.

#include "revoke_support.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

mutex_options revocable() {
    mutex_options how;
    how.revocable = true;
    return how;
}

} // namespace

CO_TEST("a holder that did not opt in gets the request, and keeps the lock") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto asked = request_to(held(a));
    const auto over = end_of(held(a));
    const auto all = co_await s.lock.contenders();
    co_await s.lock.revoke(all.at(0));
    co_await finished(asked);
    CHECK_FALSE(asked->error);
    CHECK(held(a).valid());
    CHECK_FALSE(over->done());
    const auto again = request_to(held(a)); // the request stays
    co_await finished(again);
    CHECK_FALSE(again->error);
}

CO_TEST("a holder that opted in loses the hold, and its node stays until the guard is released") {
    scene s(executor, {}, revocable());
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto over = end_of(held(a));
    const auto asked = request_to(held(a));
    s.direct.set(std::string(held(a).path()), "__REVOKE__"); // as Curator does
    co_await finished(over);
    CHECK(over->error == errc::revoked);
    CHECK_FALSE(held(a).valid());
    co_await finished(asked);
    CHECK(s.queue().size() == 1);
    held(a) = {};
    co_await s.until_queue(0);
}

CO_TEST("a waiter gets a revoke request with its grant, and other data is no request") {
    scene s(executor);
    const auto first = queue_up(s.direct, s.path);
    const auto a = ask(s.lock);
    co_await s.until_queue(2);
    co_await eventually([&] { return s.sent(opcode::get) == 2; });
    const auto mine = s.path + "/" + s.queue().at(1);
    s.direct.set(mine, "something else");
    s.direct.set(mine, "__REVOKE__");
    co_await eventually([&] { return s.sent(opcode::get) >= 3; });
    s.direct.remove(first);
    co_await granted(a);
    const auto asked = request_to(held(a));
    co_await finished(asked);
    CHECK_FALSE(asked->error);
}

CO_TEST("a wait for a revoke request ends with the hold, or by cancellation") {
    scene s(executor);
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto stopped = request_to(held(a));
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    const auto asked = request_to(held(a));
    co_await s.until_queue(1);
    held(a) = {};
    co_await finished(asked);
    CHECK(asked->error == errc::released);
}

CO_TEST("a kicked holder's guard is lost, and a kicked waiter queues again") {
    scene s(executor);
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await granted(a);
    co_await s.until_queue(2);
    auto all = co_await s.lock.contenders();
    REQUIRE(all.size() == 2);
    const auto over = end_of(held(a));
    co_await s.lock.kick(all[1]);
    co_await eventually([&] {
        const auto now = s.queue();
        return now.size() == 2 && sequence_of(now[1]) > all[1].sequence;
    });
    co_await s.lock.kick(all[0]);
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
    co_await granted(b);
}

CO_TEST("only contenders of the lock can be revoked or kicked") {
    scene s(executor);
    const auto refused = [&](const std::string& path) {
        contender target;
        target.path = path;
        return start([&, target](auto token) { s.lock.kick(target, std::move(token)); });
    };
    for (const auto& path :
         {std::string(), s.path, s.path + "/other", std::string("/lock-0000000000"),
          s.path + "/_c_x/../lock-0000000000"}) {
        CAPTURE(path);
        const auto one = refused(path);
        co_await finished(one);
        CHECK(one->error == errc::bad_argument);
    }
    const auto gone = refused(s.path + "/lock-0000000000");
    co_await finished(gone);
    CHECK(gone->error == zk_errc::no_node);
}

CO_TEST("all guards of a recursive_mutex's owner get the request, later ones too") {
    for (const bool agreed : {false, true}) {
        scene s(executor);
        recursive_mutex again(s.zk, s.path, agreed ? revocable() : mutex_options());
        const owner me;
        auto first = co_await again.lock(me);
        auto second = co_await again.lock(me);
        const auto asked = request_to(first), asked_too = request_to(second);
        const auto over = end_of(first), over_too = end_of(second);
        s.direct.set(std::string(first.path()), "__REVOKE__");
        co_await finished(asked);
        co_await finished(asked_too);
        if (!agreed) {
            auto third = co_await again.lock(me);
            const auto asked_later = request_to(third);
            co_await finished(asked_later);
            CHECK_FALSE(asked_later->error);
            CHECK(first.valid());
            continue;
        }
        co_await finished(over);
        co_await finished(over_too);
        CHECK(over->error == errc::revoked);
        CHECK(over_too->error == errc::revoked);
        const auto lock = [&] {
            return start<guard>([&](auto token) { again.lock(me, std::move(token)); });
        };
        first = guard();
        const auto early = lock(); // the other old guard keeps the node
        co_await finished(early);
        CHECK(early->error == errc::would_deadlock);
        second = guard();
        const auto next = lock();
        co_await granted(next);
    }
}
