// What a contender's node shows after a request to release has overwritten its data.

#include "revoke_support.hpp"
#include "sticky_support.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using std::chrono::system_clock;

mutex_options labelled() {
    mutex_options how;
    how.label = a_label;
    return how;
}

/// What the lock's first contender shows, once its data is restored after a request.
asio::awaitable<contender> restored(scene& s, std::size_t which = 0) {
    contender seen;
    for (;;) {
        const auto all = co_await s.lock.contenders();
        if (which < all.size()) seen = all[which];
        if (!seen.host.empty() && seen.revoke_requested != system_clock::time_point()) break;
    }
    co_return seen;
}

/// Curator asks for the lock; returns when, by the servers' clock.
system_clock::time_point ask_back(scene& s, const std::string& path) {
    return system_clock::time_point(
        std::chrono::milliseconds(s.direct.set(path, "__REVOKE__").mtime));
}

} // namespace

CO_TEST("a holder that keeps the lock writes its metadata back, with the time of the request") {
    scene s(executor, {}, labelled());
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto before = (co_await s.lock.contenders()).at(0);
    CHECK(before.revoke_requested == system_clock::time_point());
    const auto asked = ask_back(s, before.path);
    const auto after = co_await restored(s);
    CHECK(after.revoke_requested == asked);
    CHECK(after.label == a_label);
    CHECK(after.host == before.host);
    CHECK(after.pid == before.pid);
    CHECK(after.since == before.since);
    CHECK(after.holder);
    CHECK(after.token == before.token);
    CHECK(held(a).valid());
    s.direct.set(before.path, "__REVOKE__");
    co_await eventually([&] { return s.direct.get(before.path).data != "__REVOKE__"; });
    CHECK((co_await restored(s)).revoke_requested == asked); // the first one counts
}

CO_TEST("a request costs its holder one write and two reads, and its own write is no request") {
    scene s(executor, {}, labelled());
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto asked = request_to(held(a));
    co_await eventually([&] { return s.sent(opcode::get) == 1; });
    s.direct.set(std::string(held(a).path()), "__REVOKE__");
    co_await finished(asked);
    co_await eventually([&] { return s.sent(opcode::get) == 3; });
    CHECK(s.sent(opcode::set) == 1);
    const auto unasked = co_await s.lock.contenders(); // behind whatever else it would send
    CHECK(unasked.at(0).label == a_label);
    CHECK(s.sent(opcode::get) == 4);
    CHECK(s.sent(opcode::set) == 1);
}

CO_TEST("the metadata of a waiter comes back as well") {
    scene s(executor, {}, labelled());
    const auto first = queue_up(s.direct, s.path);
    const auto a = ask(s.lock);
    co_await s.until_queue(2);
    const auto asked = ask_back(s, s.path + "/" + s.queue().at(1));
    const auto seen = co_await restored(s, 1);
    CHECK(seen.label == a_label);
    CHECK(seen.revoke_requested == asked);
    CHECK_FALSE(seen.holder);
    s.direct.remove(first);
    co_await granted(a);
    CHECK((co_await restored(s)).revoke_requested == asked);
}

CO_TEST("what another program writes behind the request stays") {
    scene s(executor, {}, labelled());
    const auto a = ask(s.lock);
    co_await granted(a);
    const std::string mine(held(a).path());
    co_await eventually([&] { return s.sent(opcode::get) == 1; });
    s.proxy.hold_from(direction::up, opcode::set);
    s.direct.set(mine, "__REVOKE__");
    co_await eventually([&] { return s.proxy.waiting(direction::up) > 0; });
    s.direct.set(mine, "another's");
    s.proxy.release(direction::up);
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::set) == 1; });
    const auto all = co_await s.lock.contenders();
    CHECK(all.at(0).data == "another's");
    CHECK(held(a).valid());
}

CO_TEST("a request that comes while the connection is lost is answered after it") {
    scene s(executor, {}, labelled());
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await eventually([&] { return s.sent(opcode::get) == 1; });
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    const auto asked = ask_back(s, std::string(held(a).path()));
    s.proxy.refuse(false);
    co_await s.until_connected();
    const auto seen = co_await restored(s);
    CHECK(seen.label == a_label);
    CHECK(seen.revoke_requested == asked);
}

CO_TEST("the write is repeated when its answer is lost") {
    for (const auto way : {direction::up, direction::down}) {
        scene s(executor, {}, labelled());
        const auto a = ask(s.lock);
        co_await granted(a);
        co_await eventually([&] { return s.sent(opcode::get) == 1; });
        s.proxy.hold_from(way, opcode::set);
        s.direct.set(std::string(held(a).path()), "__REVOKE__");
        co_await eventually([&] { return s.proxy.waiting(way) > 0; });
        s.proxy.cut_all(cut::rst);
        s.proxy.release(way);
        co_await s.until_connected();
        CHECK((co_await restored(s)).label == a_label);
        CHECK(held(a).valid());
    }
}

CO_TEST("a client without the right to write its node leaves the request there") {
    auto how = labelled();
    how.acl = {{permission::read | permission::remove, "world", "anyone"},
               {permission::write, "digest", "admin:fvr2cB/fjGeAiX8g1aGhUm3ZICk="}};
    scene s(executor, {}, how);
    s.direct.add_auth("admin:secret");
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto mine = (co_await s.lock.contenders()).at(0);
    const auto refused = start([&](auto token) { s.lock.revoke(mine, std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    const auto asked = ask_back(s, mine.path);
    co_await held(a).revoke_requested();
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::set) == 2; });
    const auto now = (co_await s.lock.contenders()).at(0);
    CHECK(now.data == "__REVOKE__");
    CHECK(now.revoke_requested == asked);
    CHECK(held(a).valid());
    CHECK(s.sent(opcode::set) == 2); // it does not try again
}

CO_TEST("of a holder whose program stands still the time of the request is known, and no more") {
    scene s(executor);
    const auto stopped = queue_up(s.direct, s.path); // a foreigner answers nothing
    const auto seen = (co_await s.lock.contenders()).at(0);
    co_await s.lock.revoke(seen);
    const auto mtime = s.direct.get(stopped).stat.mtime;
    const auto all = co_await s.lock.contenders();
    CHECK(all.at(0).revoke_requested == system_clock::time_point(std::chrono::milliseconds(mtime)));
    CHECK(all.at(0).host.empty());
    CHECK(all.at(0).data == "__REVOKE__");
    CHECK(all.at(0).session == seen.session);
}

CO_TEST("a contender that queues again after a kick has not been asked") {
    scene s(executor, {}, labelled());
    const auto first = queue_up(s.direct, s.path);
    const auto a = ask(s.lock);
    co_await s.until_queue(2);
    ask_back(s, s.path + "/" + s.queue().at(1));
    const auto asked = co_await restored(s, 1);
    co_await s.lock.kick(asked);
    s.direct.remove(first);
    co_await granted(a);
    const auto now = (co_await s.lock.contenders()).at(0);
    CHECK(now.label == a_label);
    CHECK(now.revoke_requested == system_clock::time_point());
}

CO_TEST("a sticky lock's node says again that it is sticky, and does not linger after a request") {
    auto how = lingering();
    how.label = a_label;
    scene s(executor, {}, how);
    const auto a = ask(s.lock);
    co_await granted(a);
    ask_back(s, s.path + "/" + s.queue().front());
    const auto seen = co_await restored(s);
    CHECK(seen.label == a_label);
    CHECK(seen.data.find("\"sticky\":true") != std::string::npos);
    held(a) = {};
    co_await s.until_queue(0);
}

CO_TEST("after a downgrade the shared node says that it was asked") {
    scene s(executor);
    shared_mutex_options how;
    how.label = a_label;
    const shared_mutex lock(s.zk, s.path, how);
    guard mine = co_await lock.lock();
    const auto asked = ask_back(s, std::string(mine.path()));
    co_await mine.revoke_requested();
    co_await mine.downgrade();
    for (;;) {
        const auto all = co_await lock.contenders();
        if (all.at(0).shared && all.at(0).label == a_label) {
            CHECK(all.at(0).revoke_requested == asked);
            break;
        }
    }
}
