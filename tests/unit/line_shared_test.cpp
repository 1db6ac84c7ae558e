// A line with contenders who share the lock, and one that changes from the one to the other.

#include "stepped_line.hpp"

#include <doctest/doctest.h>

using namespace paddock::rules;
using namespace paddock::test;

namespace {

constexpr terms reads{.as = role::shared};
constexpr terms writes{};

/// Foreign nodes are written `W 3` and `R 3`.
struct shared_line : connected_line {
    shared_line() : connected_line(naming::of_shared_mutex()) {}
    void writer(std::int32_t sequence) { foreign(sequence, "__WRIT__"); }
    void reader(std::int32_t sequence) { foreign(sequence, "__READ__"); }
    /// Joins, and is listed with these nodes.
    std::string enters(contender_key who, terms how, std::int32_t sequence,
                       std::initializer_list<std::int32_t> all) {
        join(who, how);
        created(who, sequence);
        return listed(all);
    }
};

} // namespace

TEST_CASE("readers have the lock together, and a writer waits for the last of them") {
    shared_line line;
    CHECK(line.enters(1, reads, 0, {0}) == "grant 1");
    CHECK(line.enters(2, reads, 1, {0, 1}) == "grant 2");
    CHECK(line.enters(3, writes, 2, {0, 1, 2}) == "watch own 3");
    CHECK(line.own_watched(3) == "");
    CHECK(line.release(1) == "sweep 0, out 1");
    CHECK(line.release(2) == "sweep 1, out 2, grant 3");
}

TEST_CASE("a reader behind a waiting writer waits, so that the writer does not starve") {
    shared_line line;
    line.enters(1, reads, 0, {0});
    line.enters(2, writes, 1, {0, 1});
    line.own_watched(2);
    CHECK(line.enters(3, reads, 2, {0, 1, 2}) == "watch own 3");
    CHECK(line.own_watched(3) == "");
    CHECK(line.release(1) == "sweep 0, out 1, grant 2");
    CHECK(line.release(2) == "sweep 1, out 2, grant 3");
}

TEST_CASE("a reader watches its nearest preceding writer, past all readers") {
    shared_line line;
    line.writer(0);
    line.writer(1);
    line.reader(2);
    CHECK(line.enters(1, reads, 3, {0, 1, 2, 3}) == "watch own 1, watch 1");
    CHECK(line.watched(1) == "");
    CHECK(line.own_watched(1) == "");
    // The first writer's end is not even heard of; with the nearest's, one listing tells the rest.
    CHECK(line.deleted(1) == "list");
    CHECK(line.listed({2, 3}) == "grant 1");
}

TEST_CASE("readers behind one foreign writer share one watch, and are granted together") {
    shared_line line;
    line.writer(0);
    line.join(1, reads);
    line.join(2, reads);
    line.created(1, 1);
    line.created(2, 2);
    line.listed({0, 1, 2});
    CHECK(line.listed({0, 1, 2}) == "watch own 2");
    line.watched(0);
    line.own_watched(1);
    line.own_watched(2);
    CHECK(line.deleted(0) == "grant 1, grant 2");
}

TEST_CASE("many readers who are not known to exist are granted by one listing") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    constexpr int crowd = 40;
    for (int n = 1; n <= crowd; ++n)
        line.join(static_cast<contender_key>(n) + 1, reads);
    std::vector<std::string> all{line.name(0)};
    for (int n = 1; n <= crowd; ++n) {
        line.created(static_cast<contender_key>(n) + 1, n);
        all.push_back(line.name(n));
    }
    line.listed_names(all);
    line.listed_names(all);
    for (contender_key who = 2; who <= 17; ++who)
        line.own_watched(who);
    const auto said = line.release(1);
    CHECK(said.find("grant 17") != std::string::npos);
    CHECK(said.find("grant 18") == std::string::npos);
    CHECK(said.ends_with("list"));
    all.erase(all.begin());
    const auto granted = line.listed_names(all);
    for (contender_key who = 18; who <= crowd + 1; ++who)
        CHECK(granted.find("grant " + std::to_string(who)) != std::string::npos);
}

TEST_CASE(
    "A2: who downgrades leaves a reader's node in its place, which a writer behind waits for") {
    shared_line line;
    line.writer(0);
    line.enters(1, writes, 1, {0, 1});
    line.watched(0);
    line.own_watched(1);
    // Curator 5.5: _c_<id>-__READ__<the writer's number>, then the writer's node goes.
    CHECK(line.deleted(0) == "list");
    line.reader(0);
    CHECK(line.listed({0, 1}) == "watch 0");
    CHECK(line.watched(0) == "");
    CHECK(line.deleted(0) == "grant 1");
}

TEST_CASE("A2: a listing that was sent before the writer went does not do") {
    shared_line line;
    line.writer(0);
    line.enters(1, writes, 1, {0, 1});
    line.watched(0);
    line.own_watched(1);
    CHECK(line.join(2, writes) == "create 2, list");
    CHECK(line.deleted(0) == "");
    line.created(2, 2);
    CHECK(line.listed({0, 1, 2}) == "list"); // as it was before
    line.reader(0);
    CHECK(line.listed({0, 1, 2}) == "watch 0");
}

TEST_CASE("A8: a writer behind a reader who leaves does not inherit less than it had before it") {
    shared_line line;
    line.writer(0);
    line.reader(1);
    line.enters(1, reads, 2, {0, 1, 2});
    line.enters(2, writes, 3, {0, 1, 2, 3});
    line.watched(0);
    line.own_watched(1);
    // The reader waited for the writer only; the writer behind it waits for the foreign reader,
    // too.
    CHECK(line.quit(1) == "sweep 2, watch own 2, watch 1, forget 0, out 1");
    line.watched(1);
    line.own_watched(2);
    CHECK(line.deleted(1) == "list");
    CHECK(line.listed({0, 3}) == "watch 0");
}

TEST_CASE("a downgrade keeps the place, and lets in the readers behind it, but no writer") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    line.enters(2, reads, 1, {0, 1});
    line.own_watched(2);
    line.enters(3, writes, 2, {0, 1, 2});
    line.own_watched(3);
    CHECK(line.downgrade(1) == "downgrade 1 to 0");
    CHECK(line.downgrade(1) == "");
    CHECK(line.deleted(0) == ""); // the old node; the answer comes behind this
    CHECK(line.downgraded(1) == "downgraded 1, watch own 1, grant 2");
    CHECK(line.release(2) == "sweep 1, out 2");
    CHECK(line.release(1) == "sweep 0, out 1, grant 3");
}

TEST_CASE("a downgrade whose answer was lost is repeated, and costs no hold meanwhile") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    line.downgrade(1);
    line.disconnected();
    CHECK(line.downgraded(1, outcome::lost) == "taint 1");
    CHECK(line.connected() == "watch own 1, downgrade 1 to 0");
    CHECK(line.own_watched(1, outcome::missing) == ""); // it was executed
    CHECK(line.downgraded(1) == "downgraded 1, watch own 1");
}

TEST_CASE("a downgrade of a node that is gone finds the hold lost") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    line.downgrade(1);
    CHECK(line.downgraded(1, outcome::missing) == "lose 1, out 1");
    CHECK(line.ids.count() == 0);
}

TEST_CASE("who is released in the middle of a downgrade leaves neither node") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    line.downgrade(1);
    CHECK(line.release(1) == "sweep 0, sweep 0, out 1");
}

TEST_CASE("after a reconnect a reader beside foreign ones looks for its node, and is granted") {
    shared_line line;
    line.reader(0);
    line.enters(1, writes, 1, {0, 1});
    line.enters(2, reads, 2, {0, 1, 2});
    line.watched(0);
    line.own_watched(1);
    CHECK(line.quit(1) == "sweep 1, forget 0, out 1, watch own 2");
    line.disconnected();
    line.own_watched(2, outcome::lost);
    CHECK(line.connected() == "watch own 2");
    CHECK(line.own_watched(2) == "grant 2");
}

TEST_CASE("an immediate reader has the lock beside readers, and gives up behind a writer") {
    constexpr terms now{.as = role::shared, .immediate = true};
    shared_line line;
    line.reader(0);
    CHECK(line.enters(1, now, 1, {0, 1}) == "grant 1");
    line.writer(2);
    CHECK(line.enters(2, now, 3, {0, 1, 2, 3}) == "give up 2, sweep 3, out 2");
}

TEST_CASE("C1: tokens of exclusive holds grow, whatever readers have in between") {
    shared_line line;
    line.enters(1, writes, 0, {0});
    CHECK(line.granted_czxid == 100);
    line.enters(2, writes, 1, {0, 1});
    line.own_watched(2);
    line.downgrade(1);
    line.downgraded(1);
    line.release(1);
    CHECK(line.granted_czxid == 101);
}

TEST_CASE("who asks how many are before it hears of those that are in its way") {
    shared_line line;
    line.writer(0);
    line.reader(1);
    line.enters(1, reads, 2, {0, 1, 2});
    line.enters(2, writes, 3, {0, 1, 2, 3});
    CHECK(line.line.ahead_of(1) == 1);
    CHECK(line.line.ahead_of(2) == 3);
    CHECK(line.line.ahead_of(3) == std::nullopt);
}

TEST_CASE("whoever is curious has the first in the line watched, for as long as that lasts") {
    connected_line line;
    CHECK(line.waits(1, 3, {0, 1, 2, 3}) == "create 1, list, watch own 1, watch 2");
    line.watched(2);
    line.own_watched(1);
    line.line.be_curious(true);
    CHECK(line.wishes() == "watch 0");
    line.watched(0);
    CHECK(line.line.ahead_of(1) == 3);
    CHECK(line.deleted(0) == "list, watch 1");
    CHECK(line.listed({1, 2, 3}) == "");
    CHECK(line.line.ahead_of(1) == 2);
    line.watched(1);
    line.line.be_curious(false);
    CHECK(line.wishes() == "forget 1");
    CHECK(line.deleted(2) == "list");
}

TEST_CASE("a request to give the lock back is told once, to a holder, or with the grant") {
    connected_line line;
    const auto read = [&](contender_key who, bool asked) {
        line.line.own_watched(
            who, line.id_of(who),
            {.result = outcome::done, .czxid = 100, .watched = true, .asked_back = asked});
        return line.wishes();
    };
    line.waits(1, 0, {0});
    line.guard_own(1);
    CHECK(read(1, false) == "");
    CHECK(line.changed(0) == "watch own 1");
    CHECK(read(1, true) == "ask back 1");
    CHECK(line.changed(0) == "watch own 1");
    CHECK(read(1, true) == "");
    line.waits(2, 1, {0, 1});
    CHECK(read(2, true) == "");
    CHECK(line.release(1) == "sweep 0, out 1, grant 2, ask back 2");
}
