// Elections: candidates lead one after the other in their order, and any client may observe.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

using maybe = std::optional<contender>;

election_options named(const std::string& id) {
    election_options how;
    how.id = id;
    return how;
}
lock_call campaign(election& in) {
    return start<guard>([&](auto token) { in.campaign(std::move(token)); });
}
under_way<maybe> next_of(election& in, fencing_token seen) {
    return start<maybe>([&, seen](auto token) { in.next_leader(seen, std::move(token)); });
}
const maybe& found(const under_way<maybe>& p) { return std::get<maybe>(p->result); }

} // namespace

CO_TEST("candidates lead in the order of their campaigns, and resigning passes leadership on") {
    scene s(executor);
    election a(s.zk, s.path, named("a")), b(s.zk, s.path, named("b")), c(s.zk, s.path, named("c"));
    CHECK_FALSE(co_await a.leader());
    const auto first = campaign(a);
    co_await granted(first);
    const auto second = campaign(b);
    co_await s.until_queue(2);
    const auto third = campaign(c);
    co_await s.until_queue(3);
    const auto all = co_await b.participants();
    REQUIRE(all.size() == 3);
    CHECK((all[0].data == "a" && all[1].data == "b" && all[2].data == "c"));
    CHECK((all[0].holder && !all[1].holder));
    CHECK(all[0].path.find("-latch-") != std::string::npos);
    co_await held(first).unlock();
    co_await granted(second);
    CHECK_FALSE(third->done());
    const auto leader = co_await a.leader();
    REQUIRE(leader);
    CHECK(leader->data == "b");
    CHECK(leader->token == held(second).fencing_token());
}

CO_TEST("earlier participants of Curator lead first, and are identified by their ids") {
    scene s(executor);
    const auto curator = queue_up(s.direct, s.path, "latch-");
    s.direct.set(curator, "curator's");
    election votes(s.zk, s.path, named("ours"));
    const auto mine = campaign(votes);
    co_await s.until_queue(2);
    const auto leader = co_await votes.leader();
    REQUIRE(leader);
    CHECK(leader->data == "curator's");
    CHECK_FALSE(mine->done());
    s.direct.remove(curator);
    co_await granted(mine);
}

CO_TEST("next_leader follows every change without taking part") {
    scene s(executor);
    election votes(s.zk, s.path);
    const auto began = next_of(votes, {});
    const auto a = queue_up(s.direct, s.path, "latch-");
    co_await finished(began);
    REQUIRE(found(began));
    CHECK(found(began)->path == a);
    const auto b = queue_up(s.direct, s.path, "latch-");
    const auto changed = next_of(votes, found(began)->token);
    s.direct.remove(a);
    co_await finished(changed);
    REQUIRE(found(changed));
    CHECK(found(changed)->path == b);
    const auto no_leader = next_of(votes, found(changed)->token);
    s.direct.remove(b);
    co_await finished(no_leader);
    CHECK_FALSE(no_leader->error);
    CHECK_FALSE(found(no_leader));
    CHECK(s.queue().empty());
}

CO_TEST("next_leader waits for a directory that does not exist yet") {
    scene s(executor, {}, {}, "/parent/votes");
    s.direct.remove(s.path);
    election votes(s.zk, s.path);
    const auto began = next_of(votes, {});
    co_await eventually([&] { return s.sent(opcode::exists) > 0; });
    s.direct.make_path(s.path);
    const auto a = queue_up(s.direct, s.path, "latch-");
    co_await finished(began);
    REQUIRE(found(began));
    CHECK(found(began)->path == a);
}

CO_TEST("next_leader outlives lost connections and sessions") {
    scene s(executor, short_session(4s));
    const auto a = queue_up(s.direct, s.path, "latch-");
    election votes(s.zk, s.path);
    const auto seen = co_await votes.leader();
    REQUIRE(seen);
    const auto changed = next_of(votes, seen->token);
    co_await eventually([&] { return s.sent(opcode::get) == 2; });
    s.proxy.cut_all(cut::rst);
    co_await s.until_connected();
    expire(s);
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    CHECK_FALSE(changed->done());
    const auto b = queue_up(s.direct, s.path, "latch-");
    s.direct.remove(a);
    co_await finished(changed);
    REQUIRE(found(changed));
    CHECK(found(changed)->path == b);
}

CO_TEST("next_leader can be cancelled, and ends with its client") {
    scene s(executor);
    const auto a = queue_up(s.direct, s.path, "latch-");
    election votes(s.zk, s.path);
    const auto seen = co_await votes.leader();
    REQUIRE(seen);
    const auto stopped = next_of(votes, seen->token);
    co_await eventually([&] { return s.sent(opcode::get) == 2; });
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    const auto closed = next_of(votes, seen->token);
    co_await eventually([&] { return s.sent(opcode::get) == 3; });
    co_await s.zk.close();
    co_await finished(closed);
    CHECK(closed->error == errc::closed);
}

CO_TEST("a leader whose session has expired does not lead in the next one") {
    scene s(executor, short_session(4s));
    election votes(s.zk, s.path);
    const auto mine = campaign(votes);
    co_await granted(mine);
    const auto end = end_of(held(mine));
    expire(s);
    co_await finished(end);
    CHECK(end->error == errc::session_expired);
    co_await eventually([&] { return s.zk.epoch() >= 2; });
    CHECK_FALSE(held(mine).valid());
    const auto again = campaign(votes);
    co_await granted(again);
    CHECK_FALSE(held(mine).valid());
}
