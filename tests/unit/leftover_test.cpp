// Callers that wait behind nodes without a session, which nobody deletes.

#include "rules/simple.hpp"
#include "stepped_permits.hpp"
#include "stepped_queue.hpp"
#include "unit/taken.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 10s;

boot_clock::time_point at(boot_clock::duration t) { return boot_clock::time_point(t); }

/// `3 of 77, look again at 12`: by the last digits of the names, and the times of their creation.
std::string in_words(const rules::leftover_nodes& all) {
    std::string text;
    for (const auto& [name, ctime] : all.found)
        text += std::to_string(std::stoi(
                    '0' + name.substr(name.size() - std::min<std::size_t>(name.size(), 2)))) +
                " of " + std::to_string(ctime) + ", ";
    if (!all.next) return text + "no more";
    const auto next =
        std::chrono::duration_cast<std::chrono::seconds>(all.next->time_since_epoch());
    return text + "look again at " + std::to_string(next.count());
}

struct timed_queue : connected_queue {
    using connected_queue::connected_queue;

    std::string watched_without_session(std::int32_t sequence, std::int64_t ctime) {
        const auto said = watched(sequence);
        queue.blocker_left(name(sequence), ctime);
        return said;
    }
    std::string leftover_at(boot_clock::duration t) {
        queue.now(at(t));
        return in_words(queue.leftover(patience));
    }
};

} // namespace

TEST_CASE("a node has no session if it is persistent or a container") {
    CHECK_FALSE(rules::left_since(nullptr));
    node_stat stat{.ctime = 77, .ephemeral_owner = 0x1000'0000'0000'0001};
    CHECK_FALSE(rules::left_since(&stat));
    stat.ephemeral_owner = 0;
    CHECK(rules::left_since(&stat) == 77);
    stat.ephemeral_owner = std::numeric_limits<std::int64_t>::min();
    CHECK(rules::left_since(&stat) == 77);
}

TEST_CASE("a blocker without a session is reported after a while, and again while it lasts") {
    timed_queue queue;
    queue.queue.now(at(1s));
    queue.waits(1, 5, {3, 5});
    CHECK_FALSE(queue.queue.perhaps_leftover());
    queue.watched_without_session(3, 77);
    CHECK(queue.queue.perhaps_leftover());
    CHECK(queue.leftover_at(10s) == "look again at 11");
    CHECK(queue.leftover_at(11s) == "3 of 77, look again at 21");
    CHECK(queue.leftover_at(12s) == "look again at 21");
    CHECK(queue.leftover_at(25s) == "3 of 77, look again at 35");
    queue.deleted(3);
    CHECK_FALSE(queue.queue.perhaps_leftover());
}

TEST_CASE("a blocker with a living session is never reported, however long its callers wait") {
    timed_queue queue;
    queue.waits(1, 5, {3, 5});
    queue.watched(3);
    CHECK_FALSE(queue.queue.perhaps_leftover());
    CHECK(queue.leftover_at(1000s) == "no more");
}

TEST_CASE("a node without a session counts only while a caller waits behind it") {
    timed_queue queue;
    queue.waits(1, 5, {3, 5});
    queue.watched_without_session(3, 77);
    queue.quit(1);
    CHECK_FALSE(queue.queue.perhaps_leftover());
    CHECK(queue.leftover_at(1000s) == "no more");
}

TEST_CASE("a node that is only followed as the first of the queue blocks nobody") {
    timed_queue queue;
    queue.queue.watch_first(true);
    queue.waits(1, 5, {3, 4, 5});
    queue.watched(4);
    queue.watched_without_session(3, 77);
    CHECK(queue.leftover_at(10s) == "no more");
    CHECK(queue.leftover_at(30s) == "no more");
    queue.deleted(4); // a listing follows, and shows that 3 is the blocker now
    queue.listed({3, 5});
    CHECK(queue.leftover_at(31s).starts_with("look again"));
    CHECK(queue.leftover_at(41s).starts_with("3 of 77"));
}

TEST_CASE("a reconnect does not begin the wait behind a leftover anew, a new session does") {
    timed_queue queue;
    queue.waits(1, 5, {3, 5});
    queue.watched_without_session(3, 77);
    queue.disconnected();
    queue.queue.now(at(9s));
    queue.connected();
    queue.watched_without_session(3, 77);
    CHECK(queue.leftover_at(10s).starts_with("3 of 77"));
    queue.expired();
    CHECK_FALSE(queue.queue.perhaps_leftover());
}

TEST_CASE("a reader waits behind a leftover of a writer only") {
    timed_queue queue(rules::naming::of_shared_mutex());
    queue.foreign(2, "__WRIT__");
    queue.foreign(3, "__READ__");
    queue.join(1, {.as = rules::role::shared});
    queue.created(1, 5);
    queue.listed({2, 3, 5});
    queue.watched_without_session(2, 66);
    CHECK(queue.leftover_at(10s) == "2 of 66, look again at 20");
}

TEST_CASE("a simple lock's node without a session is reported, and forgotten with it") {
    rules::claims ids;
    ids.begin(1);
    rules::simple lock(ids, {});
    lock.connected();
    lock.join(1, false);
    taken(lock);
    lock.reserved();
    const auto race = std::get<rules::simple_act::race>(taken(lock).front()).id;
    const auto exists = static_cast<int>(zk_errc::node_exists);
    lock.raced(race, outcome::refused, exists);
    const auto looked = [&](std::uint64_t n, std::optional<std::int64_t> ctime) {
        lock.looked(n, {.result = outcome::done, .czxid = 5});
        lock.owner_left(ctime);
    };
    lock.now(at(1s));
    looked(1, 77);
    CHECK(lock.perhaps_leftover());
    lock.now(at(5s));
    lock.changed(false); // its data
    looked(2, 77);
    lock.now(at(11s));
    CHECK(in_words(lock.leftover(patience)) == "0 of 77, look again at 21");
    lock.changed(true);
    CHECK_FALSE(lock.perhaps_leftover());
    taken(lock);
    lock.reserved();
    lock.raced(std::get<rules::simple_act::race>(taken(lock).front()).id, outcome::refused, exists);
    looked(3, std::nullopt); // another owner, which is alive
    CHECK_FALSE(lock.perhaps_leftover());
}

TEST_CASE("a call that long lacks permits reads each other permit node once") {
    acquiring call({.count = 1, .permits = 2});
    call.leases.now(at(1s));
    call.admitted();
    call.created(1);
    call.listed({0, 0, 1});
    CHECK(call.leases.perhaps_leftover());
    const auto leftover_at = [&](boot_clock::duration t) {
        call.leases.now(at(t));
        const auto found = in_words(call.leases.leftover(patience));
        const auto asked = call.actions();
        return asked.empty() ? found : asked + "; " + found;
    };
    CHECK(leftover_at(10s) == "look again at 11");
    CHECK(leftover_at(11s) == "look 00, look 01; look again at 21");
    call.leases.other_seen(curator_name(0, 0), outcome::done, std::nullopt);
    call.leases.other_seen(curator_name(0, 1), outcome::done, 77);
    CHECK(leftover_at(12s) == "0 of 77, look again at 22");
    CHECK(leftover_at(21s) == "look again at 31");
    CHECK(leftover_at(31s) == "0 of 77, look again at 41");
    call.directory_changed();
    CHECK(call.listed({0, 1}) == "forget, grant 1, leave");
    CHECK_FALSE(call.leases.perhaps_leftover());
}

TEST_CASE("a look at another permit node that was lost is repeated, but not at once") {
    acquiring call({.count = 1, .permits = 1});
    call.admitted();
    call.created(1);
    call.listed({0, 1});
    call.leases.now(at(10s));
    call.leases.leftover(patience);
    CHECK(call.actions() == "look 00");
    call.leases.other_seen(curator_name(0, 0), outcome::lost, std::nullopt);
    call.leases.leftover(patience);
    CHECK(call.actions() == "");
    call.leases.now(at(10s) + patience);
    call.leases.leftover(patience);
    CHECK(call.actions() == "look 00");
}
