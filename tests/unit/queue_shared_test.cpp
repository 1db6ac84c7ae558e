// A queue with shared contenders, and with downgrades from exclusive to shared.

#include "stepped_queue.hpp"

#include <doctest/doctest.h>

using namespace paddock::rules;
using namespace paddock::test;

namespace {

constexpr contender_terms reads{.as = role::shared};
constexpr contender_terms writes{};

/// Foreign nodes are written `W 3` and `R 3`.
struct shared_queue : connected_queue {
    shared_queue() : connected_queue(naming::of_shared_mutex()) {}
    void writer(std::int32_t sequence) { foreign(sequence, "__WRIT__"); }
    void reader(std::int32_t sequence) { foreign(sequence, "__READ__"); }
    /// Joins, and is listed with these nodes.
    std::string enters(contender_key key, contender_terms how, std::int32_t sequence,
                       std::initializer_list<std::int32_t> all) {
        join(key, how);
        created(key, sequence);
        return listed(all);
    }
};

} // namespace

TEST_CASE("readers hold the lock together, and a writer waits for the last of them") {
    shared_queue queue;
    CHECK(queue.enters(1, reads, 0, {0}) == "grant 1");
    CHECK(queue.enters(2, reads, 1, {0, 1}) == "grant 2");
    CHECK(queue.enters(3, writes, 2, {0, 1, 2}) == "watch own 3");
    CHECK(queue.own_watched(3) == "");
    CHECK(queue.release(1) == "sweep 0, out 1");
    CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
}

TEST_CASE("a reader behind a waiting writer waits, so that the writer does not starve") {
    shared_queue queue;
    queue.enters(1, reads, 0, {0});
    queue.enters(2, writes, 1, {0, 1});
    queue.own_watched(2);
    CHECK(queue.enters(3, reads, 2, {0, 1, 2}) == "watch own 3");
    CHECK(queue.own_watched(3) == "");
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2");
    CHECK(queue.release(2) == "sweep 1, out 2, grant 3");
}

TEST_CASE("a reader watches its nearest preceding writer, past all readers") {
    shared_queue queue;
    queue.writer(0);
    queue.writer(1);
    queue.reader(2);
    CHECK(queue.enters(1, reads, 3, {0, 1, 2, 3}) == "watch own 1, watch 1");
    CHECK(queue.watched(1) == "");
    CHECK(queue.own_watched(1) == "");
    // The first writer's end is not watched; after the nearest's, one listing shows both.
    CHECK(queue.deleted(1) == "list");
    CHECK(queue.listed({2, 3}) == "grant 1");
}

TEST_CASE("readers behind one foreign writer share one watch, and are granted together") {
    shared_queue queue;
    queue.writer(0);
    queue.join(1, reads);
    queue.join(2, reads);
    queue.created(1, 1);
    queue.created(2, 2);
    queue.listed({0, 1, 2});
    CHECK(queue.listed({0, 1, 2}) == "watch own 2");
    queue.watched(0);
    queue.own_watched(1);
    queue.own_watched(2);
    CHECK(queue.deleted(0) == "grant 1, grant 2");
}

TEST_CASE("many readers whose nodes are not known to exist are granted by one listing") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    constexpr int crowd = 40;
    for (int n = 1; n <= crowd; ++n)
        queue.join(static_cast<contender_key>(n) + 1, reads);
    std::vector<std::string> all{queue.name(0)};
    for (int n = 1; n <= crowd; ++n) {
        queue.created(static_cast<contender_key>(n) + 1, n);
        all.push_back(queue.name(n));
    }
    queue.listed_names(all);
    queue.listed_names(all);
    for (contender_key key = 2; key <= 17; ++key)
        queue.own_watched(key);
    const auto said = queue.release(1);
    CHECK(said.find("grant 17") != std::string::npos);
    CHECK(said.find("grant 18") == std::string::npos);
    CHECK(said.ends_with("list"));
    all.erase(all.begin());
    const auto granted = queue.listed_names(all);
    for (contender_key key = 18; key <= crowd + 1; ++key)
        CHECK(granted.find("grant " + std::to_string(key)) != std::string::npos);
}

TEST_CASE("a downgrade leaves a reader's node in its place, and a writer behind waits for it") {
    shared_queue queue;
    queue.writer(0);
    queue.enters(1, writes, 1, {0, 1});
    queue.watched(0);
    queue.own_watched(1);
    // Curator 5.5: _c_<id>-__READ__<the writer's number>, then the writer's node goes.
    CHECK(queue.deleted(0) == "list");
    queue.reader(0);
    CHECK(queue.listed({0, 1}) == "watch 0");
    CHECK(queue.watched(0) == "");
    CHECK(queue.deleted(0) == "grant 1");
}

TEST_CASE("a listing that was sent before the writer's node was deleted grants nothing") {
    shared_queue queue;
    queue.writer(0);
    queue.enters(1, writes, 1, {0, 1});
    queue.watched(0);
    queue.own_watched(1);
    CHECK(queue.join(2, writes) == "create 2, list");
    CHECK(queue.deleted(0) == "");
    queue.created(2, 2);
    CHECK(queue.listed({0, 1, 2}) == "list"); // as before
    queue.reader(0);
    CHECK(queue.listed({0, 1, 2}) == "watch 0");
}

TEST_CASE("a writer behind a reader that leaves keeps all its own blockers") {
    shared_queue queue;
    queue.writer(0);
    queue.reader(1);
    queue.enters(1, reads, 2, {0, 1, 2});
    queue.enters(2, writes, 3, {0, 1, 2, 3});
    queue.watched(0);
    queue.own_watched(1);
    // The reader waited for the writer only; the writer behind it waits for the foreign reader,
    // too.
    CHECK(queue.quit(1) == "sweep 2, watch own 2, watch 1, forget 0, out 1");
    queue.watched(1);
    queue.own_watched(2);
    CHECK(queue.deleted(1) == "list");
    CHECK(queue.listed({0, 3}) == "watch 0");
}

TEST_CASE("a downgrade keeps its place, and lets in the readers behind it, but no writer") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.enters(2, reads, 1, {0, 1});
    queue.own_watched(2);
    queue.enters(3, writes, 2, {0, 1, 2});
    queue.own_watched(3);
    CHECK(queue.downgrade(1) == "downgrade 1 to 0");
    CHECK(queue.downgrade(1) == "");
    CHECK(queue.deleted(0) == ""); // the old node; the answer comes behind this
    CHECK(queue.downgraded(1) == "downgraded 1, watch own 1, grant 2");
    CHECK(queue.release(2) == "sweep 1, out 2");
    CHECK(queue.release(1) == "sweep 0, out 1, grant 3");
}

TEST_CASE("a downgrade whose answer was lost is repeated, and costs no hold meanwhile") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.downgrade(1);
    queue.disconnected();
    CHECK(queue.downgraded(1, outcome::lost) == "taint 1");
    CHECK(queue.connected() == "watch own 1, downgrade 1 to 0");
    CHECK(queue.own_watched(1, outcome::missing) == ""); // it was executed
    CHECK(queue.downgraded(1) == "downgraded 1, watch own 1");
}

TEST_CASE("a downgrade of a node that is gone finds the hold lost") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.downgrade(1);
    CHECK(queue.downgraded(1, outcome::missing) == "lose 1, out 1");
    CHECK(queue.ids.count() == 0);
}

TEST_CASE("a release in the middle of a downgrade leaves neither node") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.downgrade(1);
    CHECK(queue.release(1) == "sweep 0, sweep 0, out 1");
}

TEST_CASE("after a reconnect a reader beside foreign ones looks for its node, and is granted") {
    shared_queue queue;
    queue.reader(0);
    queue.enters(1, writes, 1, {0, 1});
    queue.enters(2, reads, 2, {0, 1, 2});
    queue.watched(0);
    queue.own_watched(1);
    CHECK(queue.quit(1) == "sweep 1, forget 0, out 1, watch own 2");
    queue.disconnected();
    queue.own_watched(2, outcome::lost);
    CHECK(queue.connected() == "watch own 2");
    CHECK(queue.own_watched(2) == "grant 2");
}

TEST_CASE("an immediate reader is granted beside readers, and gives up behind a writer") {
    constexpr contender_terms now{.as = role::shared, .immediate = true};
    shared_queue queue;
    queue.reader(0);
    CHECK(queue.enters(1, now, 1, {0, 1}) == "grant 1");
    queue.writer(2);
    CHECK(queue.enters(2, now, 3, {0, 1, 2, 3}) == "give up 2, sweep 3, out 2");
}

TEST_CASE("tokens of exclusive holds grow, whatever readers have in between") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    CHECK(queue.granted_czxid == 100);
    queue.enters(2, writes, 1, {0, 1});
    queue.own_watched(2);
    queue.downgrade(1);
    queue.downgraded(1);
    queue.release(1);
    CHECK(queue.granted_czxid == 101);
}

TEST_CASE("a downgrade that is refused leaves the hold as it was, and may be tried again") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.watch_hold(1);
    queue.own_watched(1);
    queue.downgrade(1);
    CHECK(queue.downgrade_fails(1, outcome::refused, -102) == "refuse downgrade 1 -102");
    CHECK(queue.downgrade(1) == "downgrade 1 to 0");
    CHECK(queue.downgrade_fails(1, outcome::later) == "pause");
    CHECK(queue.resume() == "downgrade 1 to 0");
    CHECK(queue.downgraded(1) == "forget 0, downgraded 1, watch own 1");
    CHECK(queue.ids.count() == 1);
}

TEST_CASE("the end of the own node during a refused downgrade is reported after it") {
    shared_queue queue;
    queue.enters(1, writes, 0, {0});
    queue.watch_hold(1);
    queue.own_watched(1);
    queue.downgrade(1);
    CHECK(queue.deleted(0) == "");
    CHECK(queue.downgrade_fails(1, outcome::refused, -102) ==
          "refuse downgrade 1 -102, watch own 1");
    CHECK(queue.own_watched(1, outcome::missing) == "lose 1, out 1");
}

TEST_CASE("ahead_of counts the contenders that block a waiter") {
    shared_queue queue;
    queue.writer(0);
    queue.reader(1);
    queue.enters(1, reads, 2, {0, 1, 2});
    queue.enters(2, writes, 3, {0, 1, 2, 3});
    CHECK(queue.queue.ahead_of(1) == 1);
    CHECK(queue.queue.ahead_of(2) == 3);
    CHECK(queue.queue.ahead_of(3) == std::nullopt);
}

TEST_CASE("watch_first watches the first node of the queue until it is switched off") {
    connected_queue queue;
    CHECK(queue.waits(1, 3, {0, 1, 2, 3}) == "create 1, list, watch own 1, watch 2");
    queue.watched(2);
    queue.own_watched(1);
    queue.queue.watch_first(true);
    CHECK(queue.actions() == "watch 0");
    queue.watched(0);
    CHECK(queue.queue.ahead_of(1) == 3);
    CHECK(queue.deleted(0) == "list, watch 1");
    CHECK(queue.listed({1, 2, 3}) == "");
    CHECK(queue.queue.ahead_of(1) == 2);
    queue.watched(1);
    queue.queue.watch_first(false);
    CHECK(queue.actions() == "forget 1");
    CHECK(queue.deleted(2) == "list");
}

TEST_CASE("a revoke request is reported once, to a holder, or with the grant") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.watch_hold(1);
    CHECK(queue.own_read(1) == "");
    CHECK(queue.changed(0) == "watch own 1");
    CHECK(queue.own_read(1, {{1, 500, 501}}) == "revoke 1, restore 1 at 1 since 500");
    CHECK(queue.own_read(1, {{1, 500, 501}}) == ""); // the write was refused
    CHECK(queue.changed(0) == "watch own 1");        // by the client's own write
    CHECK(queue.own_read(1) == "");
    CHECK(queue.changed(0) == "watch own 1");
    CHECK(queue.own_read(1, {{3, 900, 901}}) == "restore 1 at 3 since 500");
    queue.waits(2, 1, {0, 1});
    CHECK(queue.own_read(2, {{1, 700, 701}}) == "restore 2 at 1 since 700");
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2, revoke 2");
}

TEST_CASE("a contender that queues again has not been asked to release") {
    connected_queue queue;
    queue.waits(1, 0, {0});
    queue.waits(2, 1, {0, 1});
    CHECK(queue.own_read(2, {{1, 700, 701}}) == "restore 2 at 1 since 700");
    queue.deleted(1);
    queue.created(2, 2);
    queue.listed({0, 2});
    queue.own_watched(2);
    CHECK(queue.release(1) == "sweep 0, out 1, grant 2");
}
