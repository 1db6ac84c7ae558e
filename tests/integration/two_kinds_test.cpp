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
        const std::string names[] = {"shared_mutex", "election", "semaphore"};
        INFO((*log)[0].text);
        CHECK((*log)[0].path == s.path);
        CHECK(has((*log)[0].text, "the lock " + s.path + " is a mutex, but " + s.path + '/'));
        CHECK(has((*log)[0].text, " is of a " + names[kind]));
        CHECK(has((*log)[0].text, "do not exclude each other"));
    }
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
