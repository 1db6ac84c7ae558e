// Two programs that use locks of different kinds at one path: both are granted, and the log says
// so.

#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

struct record {
    std::string text, path;
};
using records = std::shared_ptr<std::vector<record>>;

client_options logging(const records& to) {
    auto options = short_session(1s);
    options.log = [to](const log_record& line) {
        if (line.code == log_code::two_kinds_of_lock)
            to->push_back({std::string(line.text), std::string(line.path)});
    };
    return options;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

} // namespace

CO_TEST("a mutex beside another program's shared mutex, election or semaphore is in the log") {
    for (int kind = 0; kind < 3; ++kind) {
        const auto log = std::make_shared<std::vector<record>>();
        scene s(executor, logging(log));
        client other(executor, s.proxy.address());
        lock_call theirs;
        if (kind == 0) {
            const shared_mutex rw(other, s.path);
            theirs = start<guard>([&](auto token) { rw.lock(std::move(token)); });
        } else if (kind == 1) {
            const election e(other, s.path);
            theirs = start<guard>([&](auto token) { e.campaign(std::move(token)); });
        } else {
            semaphore pool(other, s.path, 1);
            theirs = ask(pool);
        }
        co_await granted(theirs);
        const auto ours = ask(s.lock);
        co_await granted(ours); // at the same time
        REQUIRE(log->size() == 1);
        const std::string names[] = {"a shared_mutex", "an election", "a semaphore"};
        INFO((*log)[0].text);
        CHECK((*log)[0].path == s.path);
        CHECK(has((*log)[0].text, "the lock " + s.path + " is a mutex, but " + s.path + '/'));
        CHECK(has((*log)[0].text, " is of " + names[kind]));
        CHECK(has((*log)[0].text, "do not exclude each other"));
    }
}

CO_TEST("a semaphore beside another program's mutex, shared mutex or election is in the log") {
    for (int kind = 0; kind < 3; ++kind) {
        CAPTURE(kind);
        const auto log = std::make_shared<std::vector<record>>();
        scene s(executor, logging(log));
        client other(executor, s.proxy.address());
        const auto theirs = start<guard>([&](auto token) {
            if (kind == 0) return mutex(other, s.path).lock(std::move(token));
            if (kind == 1) return shared_mutex(other, s.path).lock(std::move(token));
            return election(other, s.path).campaign(std::move(token));
        });
        co_await granted(theirs);
        semaphore pool(s.zk, s.path, 1);
        const auto ours = ask(pool);
        co_await granted(ours); // at the same time
        co_await eventually([&] { return !log->empty(); });
        const std::string names[] = {"a mutex", "a shared_mutex", "an election"};
        INFO((*log)[0].text);
        CHECK((*log)[0].path == s.path);
        CHECK(has((*log)[0].text, "the lock " + s.path + " is a semaphore, but " + s.path + '/'));
        CHECK(has((*log)[0].text, " is of " + names[kind]));
        CHECK(log->size() == 1);
    }
}

CO_TEST("a semaphore looks at its path once in a while, however often it is acquired") {
    scene s(executor);
    {
        client first(executor, s.proxy.address()); // makes the directories
        semaphore same(first, s.path, 1);
        const auto once = ask(same);
        co_await granted(once);
        co_await unlocked(once);
    }
    semaphore pool(s.zk, s.path, 1);
    std::vector<std::size_t> listings;
    for (int i = 0; i < 3; ++i) {
        const auto before = s.proxy.count(direction::up, opcode::children2);
        const auto one = ask(pool);
        co_await granted(one);
        co_await unlocked(one);
        co_await s.zk.sync("/"); // behind all that it asks
        listings.push_back(s.proxy.count(direction::up, opcode::children2) - before);
    }
    CHECK(listings[0] == listings[1] + 1);
    CHECK(listings[1] == listings[2]);
}

CO_TEST("a semaphore's own directories are no trouble for it") {
    const auto log = std::make_shared<std::vector<record>>();
    scene s(executor, logging(log));
    semaphore pool(s.zk, s.path, 2), same(s.zk, s.path, 2);
    const auto first = ask(pool);
    co_await granted(first);
    const auto second = ask(same);
    co_await granted(second);
    co_await s.zk.sync("/"); // behind the listings of the path
    CHECK(log->empty());
}

namespace {

constexpr const char* kinds[] = {"mutex", "shared_mutex", "election", "semaphore", "simple_mutex"};

lock_call ask_for_kind(std::size_t kind, const client& zk, const std::string& path) {
    return start<guard>([&](auto token) {
        if (kind == 0) return mutex(zk, path).lock(std::move(token));
        if (kind == 1) return shared_mutex(zk, path).lock_shared(std::move(token));
        if (kind == 2) return election(zk, path).campaign(std::move(token));
        if (kind == 3) return semaphore(zk, path, 2).acquire(std::move(token));
        return simple_mutex(zk, path).lock(std::move(token));
    });
}

} // namespace

CO_TEST(
    "of one client's locks of two kinds at one path the second is refused while both are used") {
    scene s(executor);
    for (std::size_t first = 0; first < std::size(kinds); ++first) {
        CAPTURE(kinds[first]);
        const auto path = s.path + '/' + kinds[first];
        const auto holds = ask_for_kind(first, s.zk, path);
        co_await granted(holds);
        for (std::size_t second = 0; second < std::size(kinds); ++second) {
            if (second == first) continue;
            CAPTURE(kinds[second]);
            const auto refused = ask_for_kind(second, s.zk, path);
            co_await finished(refused);
            CHECK(refused->error == errc::bad_argument);
            CHECK(refused->error.message() ==
                  std::string("the lock's path is that of ") + (first == 2 ? "an " : "a ") +
                      kinds[first] +
                      " which this client uses: locks of two kinds do not exclude each other");
        }
        const auto same = ask_for_kind(first, s.zk, path);
        co_await unlocked(holds);
        co_await granted(same);
        co_await unlocked(same);
        if (first == 4)
            break; // a simple_mutex would wait until the directory is deleted, and so on
        co_await granted(ask_for_kind(first == 1 ? 2 : 1, s.zk, path));
    }
}

CO_TEST("a lock that waits uses its path, too, until it gives up") {
    scene s(executor);
    queue_up(s.direct, s.path);
    const auto waits = ask(s.lock);
    co_await s.until_queue(2);
    const auto refused = ask_for_kind(1, s.zk, s.path);
    co_await finished(refused);
    CHECK(refused->error == errc::bad_argument);
    waits->cancel();
    co_await finished(waits);
    co_await s.until_queue(1);
    co_await s.zk.sync("/"); // behind the answer to the deletion
    co_await granted(ask_for_kind(1, s.zk, s.path));
}

CO_TEST("a call that was cancelled, or timed out, uses its path no more, whatever is under way") {
    scene s(executor);
    co_await s.zk.connect();
    for (std::size_t kind = 0; kind < 4; ++kind) { // others need the node of a simple_mutex gone
        CAPTURE(kinds[kind]);
        const auto path = s.path + '/' + kinds[kind];
        s.direct.make_path(s.path);
        s.proxy.hold(direction::down);
        const auto sent = s.proxy.count(direction::up);
        const auto waits = ask_for_kind(kind, s.zk, path);
        co_await eventually([&] { return s.proxy.count(direction::up) > sent; });
        waits->cancel();
        co_await finished(waits);
        const auto other = ask_for_kind(kind == 1 ? 2 : 1, s.zk, path);
        s.proxy.release(direction::down);
        co_await granted(other);
        co_await unlocked(other);
    }
}

CO_TEST("a sticky lock that lingers does not refuse other kinds, which end the lingering") {
    scene s(executor);
    mutex_options sticky;
    sticky.linger = 30s;
    mutex lingers(s.zk, s.path, sticky);
    auto a = ask(lingers);
    co_await granted(a);
    auto refused = ask_for_kind(1, s.zk, s.path);
    co_await finished(refused);
    CHECK(refused->error == errc::bad_argument);
    co_await unlocked(a);
    co_await s.until_queue(1); // it lingers
    auto other = ask_for_kind(1, s.zk, s.path);
    co_await granted(other);
    co_await unlocked(other);
}

CO_TEST("a refusal for another kind is in the log, with the path") {
    const auto log = std::make_shared<std::vector<record>>();
    scene s(executor, logging(log));
    const auto holds = ask(s.lock);
    co_await granted(holds);
    const auto refused = ask_for_kind(3, s.zk, s.path);
    co_await finished(refused);
    CHECK(refused->error == errc::bad_argument);
    REQUIRE(log->size() == 1);
    CHECK((*log)[0].path == s.path);
    CHECK(has((*log)[0].text,
              "the lock " + s.path + " is a semaphore, but this client uses a mutex"));
}

CO_TEST("mutexes with names of their own, and other programs' nodes, are no trouble") {
    const auto log = std::make_shared<std::vector<record>>();
    scene s(executor, logging(log));
    mutex alpha(s.zk, s.path, {.name = "alpha"});
    const auto a = ask(s.lock);
    co_await granted(a);
    const auto b = ask(alpha);
    co_await granted(b);
    for (const std::string name : {"/stranger-", "/latch-", "/locks"})
        s.direct.create(s.path + name, "", node_mode::ephemeral_sequential);
    client other(executor, s.proxy.address(), logging(log));
    mutex same(other, s.path);
    const auto waiting = ask(same);
    co_await s.until_queue(6);
    held(a) = guard();
    co_await granted(waiting);
    CHECK(log->empty());
}

CO_TEST("a sticky mutex with a name of its own refuses no other kind, and is not refused") {
    scene s(executor);
    mutex_options named{.name = "alpha", .max_local_handoffs = 8};
    mutex alpha(s.zk, s.path, named);
    const auto a = ask(alpha);
    co_await granted(a);
    auto leads = ask_for_kind(2, s.zk, s.path);
    co_await granted(leads);
    const auto again = ask(alpha);
    held(a) = guard();
    co_await granted(again);
    co_await unlocked(leads);
}

CO_TEST("a simple_mutex at the directory of other locks is in the log, and not as a leftover") {
    const auto log = std::make_shared<std::vector<record>>();
    scene s(executor, logging(log));
    const auto node = queue_up(s.direct, s.path);
    client other(executor, s.proxy.address(), logging(log));
    const simple_mutex simple(other, s.path);
    const auto waits = start<guard>([&](auto token) { simple.lock(std::move(token)); });
    co_await eventually([&] { return !log->empty(); });
    CHECK((*log)[0].path == s.path);
    CHECK(has((*log)[0].text, "has children"));
    CHECK_FALSE(has((*log)[0].text, "zkCli"));
}
