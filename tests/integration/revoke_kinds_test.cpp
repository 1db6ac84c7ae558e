// Revoking and kicking the participants of elections, and contenders for recursive locks and keys.

#include "lock_family_support.hpp"
#include "revoke_support.hpp"
#include "support/background_task.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

lock_call campaign(const election& in) {
    return start<guard>([&](auto token) { in.campaign(std::move(token)); });
}
election_options candidate(const std::string& id, bool revocable = false) {
    election_options how;
    how.id = id;
    how.revocable = revocable;
    return how;
}

/// The lock of one key of a family.
struct by_key {
    const lock_family& all;
    template <class Token>
    auto revoke(contender one, Token token) {
        return all.revoke("x", std::move(one), std::move(token));
    }
    template <class Token>
    auto kick(contender one, Token token) {
        return all.kick("x", std::move(one), std::move(token));
    }
};

/// Asks the present leader to resign.
asio::awaitable<void> revoke_leader(const election& votes) {
    auto leader = co_await votes.leader();
    REQUIRE(leader);
    co_await votes.revoke(std::move(*leader));
}

} // namespace

CO_TEST("a revocable leader leads no more once it is asked, and resigns for the next") {
    scene s(executor);
    const election a(s.zk, s.path, candidate("a", true)), b(s.zk, s.path, candidate("b"));
    const auto first = campaign(a);
    co_await granted(first);
    const auto second = campaign(b);
    co_await s.until_queue(2);
    const auto over = end_of(held(first));
    co_await revoke_leader(b);
    co_await finished(over);
    CHECK(over->error == errc::revoked);
    CHECK_FALSE(held(first).valid());
    CHECK_FALSE(second->done()); // its node stays until it resigns
    held(first) = {};
    co_await granted(second);
}

CO_TEST("lead() hands leadership over on request, and campaigns again behind the others") {
    scene s(executor);
    const election a(s.zk, s.path, candidate("a", true)), b(s.zk, s.path, candidate("b", true));
    std::vector<std::string> leaders;
    const auto leads = [&](const election& votes, std::string id) -> asio::awaitable<void> {
        const auto work = [&](guard& leadership) -> asio::awaitable<void> {
            leaders.push_back(id);
            co_await leadership.lost(asio::as_tuple(asio::use_awaitable));
        };
        co_await votes.lead(work);
    };
    const auto one = spawn(executor, [&] { return leads(a, "a"); });
    co_await eventually([&] { return leaders.size() == 1; });
    const auto two = spawn(executor, [&] { return leads(b, "b"); });
    co_await s.until_queue(2);
    const auto first_of_all = s.queue().front();
    co_await revoke_leader(a);
    co_await eventually([&] { return leaders.size() == 2; });
    CHECK(leaders.back() == "b");
    // Leadership passes within a client while the node before is still being deleted.
    co_await eventually([&] { return s.queue().front() != first_of_all; });
    co_await s.until_queue(2);
    co_await revoke_leader(a);
    co_await eventually([&] { return leaders.size() == 3; });
    CHECK(leaders.back() == "a");
    one->stop.emit(asio::cancellation_type::terminal);
    two->stop.emit(asio::cancellation_type::terminal);
    co_await ended(one);
    co_await ended(two);
}

CO_TEST("a leader that goes on leading gets its id back, also one that it has set") {
    scene s(executor);
    const election votes(s.zk, s.path, candidate("first"));
    const auto mine = campaign(votes);
    co_await granted(mine);
    for (const std::string id : {"first", "second \"id\"\n"}) {
        if (id != "first") co_await votes.set_id(held(mine), id);
        const auto asked = co_await votes.leader();
        REQUIRE(asked);
        s.direct.set(asked->path, "__REVOKE__");
        co_await eventually([&] { return s.direct.get(asked->path).data != "__REVOKE__"; });
        CHECK((co_await votes.leader())->data == id);
    }
    CHECK(held(mine).valid());
    co_await held(mine).revoke_requested();
}

CO_TEST("an id that looks like a request to release is refused") {
    scene s(executor);
    CHECK_THROWS_AS(election(s.zk, s.path, candidate("__REVOKE__")), bad_argument_error);
    const election votes(s.zk, s.path);
    const auto mine = campaign(votes);
    co_await granted(mine);
    const auto refused =
        start([&](auto token) { votes.set_id(held(mine), "__REVOKE__", std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == errc::bad_argument);
}

CO_TEST("a candidate that was asked leaves when it leads, and a kicked one campaigns again") {
    scene s(executor);
    const election a(s.zk, s.path, candidate("a")), b(s.zk, s.path, candidate("b", true));
    const auto first = campaign(a), second = campaign(b);
    co_await granted(first);
    co_await s.until_queue(2);
    auto all = co_await a.participants();
    co_await a.kick(all.at(1));
    co_await eventually([&] {
        const auto now = s.queue();
        return now.size() == 2 && sequence_of(now[1]) > all[1].sequence;
    });
    all = co_await a.participants();
    co_await a.revoke(all.at(1));
    co_await eventually([&] { return s.direct.get(all[1].path).data == "b"; });
    const auto over = end_of(held(first));
    co_await a.kick(all.at(0));
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
    co_await finished(second);
    const auto asked = end_of(held(second));
    co_await finished(asked);
    CHECK(asked->error == errc::revoked);
}

CO_TEST("an election, a recursive lock and a family refuse contenders of other locks") {
    family_scene s(executor);
    const auto votes_at = fresh_root() + "/votes";
    const election votes(s.zk, votes_at);
    const recursive_mutex again(s.zk, s.path);
    const recursive_shared_mutex shared(s.zk, s.path);
    s.direct.make_path(votes_at);
    s.direct.make_path(s.path + "/x");
    co_await refuses_strangers(votes, at(votes_at + "/lock-0000000000"),
                               at(votes_at + "/latch-0000000000"));
    co_await refuses_strangers(again, at(s.path + "/latch-0000000000"),
                               at(s.path + "/lock-0000000000"));
    co_await refuses_strangers(shared, at(s.path + "/lock-0000000000"),
                               at(s.path + "/__READ__0000000000"));
    by_key keyed{s.ours};
    co_await refuses_strangers(keyed, at(s.path + "/y/lock-0000000000"),
                               at(s.path + "/x/lock-0000000000"));
    const auto no_key = start([&](auto token) { s.ours.kick("", {}, std::move(token)); });
    co_await finished(no_key);
    CHECK(no_key->error == errc::bad_argument);
    co_await ends_early(votes, s.zk, s.proxy, at(votes_at + "/latch-0000000000"));
}

CO_TEST("the owner of a recursive lock is asked, and kicked") {
    scene s(executor);
    mutex_options how;
    how.label = a_label;
    const recursive_mutex lock(s.zk, s.path, how);
    const owner me;
    guard first = co_await lock.lock(me);
    guard second = co_await lock.lock(me);
    auto all = co_await lock.contenders();
    REQUIRE(all.size() == 1);
    co_await lock.revoke(all[0]);
    co_await first.revoke_requested();
    co_await second.revoke_requested();
    co_await eventually([&] { return s.direct.get(all[0].path).data != "__REVOKE__"; });
    all = co_await lock.contenders();
    CHECK(all[0].label == a_label);
    CHECK(all[0].revoke_requested != std::chrono::system_clock::time_point());
    CHECK(first.valid());
    const auto over = end_of(first), over_too = end_of(second);
    co_await lock.kick(all[0]);
    co_await finished(over);
    co_await finished(over_too);
    CHECK(over->error == errc::node_deleted);
}

CO_TEST("readers and writers of a recursive_shared_mutex are asked, and kicked") {
    scene s(executor);
    shared_mutex_options how;
    how.revocable = true;
    const recursive_shared_mutex lock(s.zk, s.path, how);
    guard reader = co_await lock.lock_shared(owner());
    guard other = co_await lock.lock_shared(owner());
    const auto all = co_await lock.contenders();
    REQUIRE(all.size() == 2);
    const auto over = end_of(reader), over_too = end_of(other);
    co_await lock.revoke(all[0]);
    co_await finished(over);
    CHECK(over->error == errc::revoked);
    CHECK(other.valid());
    co_await lock.kick(all[1]);
    co_await finished(over_too);
    CHECK(over_too->error == errc::node_deleted);
}

CO_TEST("the contenders for the lock of a key are asked, and kicked, by key") {
    mutex_options how;
    how.label = a_label;
    family_scene s(executor, how);
    const auto a = ask(s.ours, "EU/1");
    co_await granted(a);
    const auto b = ask(s.theirs, "EU/1");
    co_await s.until_queue("EU/1", 2);
    const auto asked = request_to(held(a));
    auto all = co_await s.theirs.contenders("EU/1");
    co_await s.theirs.revoke("EU/1", all.at(0));
    co_await finished(asked);
    CHECK_FALSE(asked->error);
    co_await eventually([&] { return s.direct.get(all[0].path).data != "__REVOKE__"; });
    CHECK((co_await s.theirs.contenders("EU/1")).at(0).label == a_label);
    const auto over = end_of(held(a));
    co_await s.theirs.kick("EU/1", all[0]);
    co_await finished(over);
    CHECK(over->error == errc::node_deleted);
    co_await granted(b);
    const shared_lock_family shared(s.zk, s.path + "-shared");
    guard reader = co_await shared.lock_shared("k");
    all = co_await shared.contenders("k");
    CHECK(all.at(0).shared);
    co_await shared.revoke("k", all[0]);
    co_await reader.revoke_requested();
    co_await shared.kick("k", all[0]);
    const auto end = end_of(reader);
    co_await finished(end);
    CHECK(end->error == errc::node_deleted);
}
