// Nodes that a program has left behind without a session block for ever: the log says behind what.

#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

struct record {
    log_code code;
    std::string text, path;
};
using records = std::shared_ptr<std::vector<record>>;

client_options logging(const records& to, std::chrono::milliseconds timeout) {
    auto options = short_session(timeout);
    options.log = [to](const log_record& line) {
        to->push_back({line.code, std::string(line.text), std::string(line.path)});
    };
    return options;
}

/// The texts of the lines about leftovers at this lock.
std::vector<std::string> about(const records& all, const std::string& lock) {
    std::vector<std::string> texts;
    for (const auto& line : *all)
        if (line.code == log_code::leftover_node && line.path == lock) texts.push_back(line.text);
    return texts;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// A client that logs, and one kind of lock with a leftover before it.
struct left_scene {
    explicit left_scene(asio::any_io_executor executor, std::chrono::milliseconds timeout)
        : zk(executor, proxy.address(), logging(log, timeout)) {}

    std::string leave(const std::string& prefix,
                      node_mode mode = node_mode::persistent_sequential) {
        direct.make_path(prefix.substr(0, prefix.rfind('/')));
        return direct.create(prefix, "", mode);
    }
    /// The call waits, the log names the node, and the call is granted once that is deleted.
    asio::awaitable<void> tells(lock_call call, std::string lock, std::string node) {
        co_await eventually([&] { return !about(log, lock).empty(); });
        const auto text = about(log, lock)[0];
        INFO(text);
        CHECK(has(text, "callers wait for the lock " + lock + " behind the node " + node +
                            ", which belongs to no session"));
        CHECK(has(text, "created 20"));
        CHECK(has(text, "delete " + node));
        CHECK_FALSE(call->done());
        direct.remove(node);
        co_await granted(call);
        held(call) = guard();
    }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path = fresh_root() + "/lock";
    records log = std::make_shared<std::vector<record>>();
    client zk;
};

const std::string id = "_c_01234567-89ab-4cde-8f01-23456789abcd-";

} // namespace

// The log has lines about three locks at one time.
CO_TEST("a persistent contender before a mutex, shared mutex or election is in the log") {
    left_scene s(executor, test.full_or_brief(1s, 500ms));
    const auto call = [](auto operation) { return start<guard>(std::move(operation)); };
    {
        const mutex m(s.zk, s.path + "1");
        const auto node = s.leave(s.path + "1/" + id + "lock-");
        co_await s.tells(call([&](auto token) { m.lock(std::move(token)); }), s.path + "1", node);
    }
    {
        const shared_mutex m(s.zk, s.path + "2");
        const auto node = s.leave(s.path + "2/" + id + "__WRIT__");
        co_await s.tells(call([&](auto token) { m.lock_shared(std::move(token)); }), s.path + "2",
                         node);
    }
    {
        const election e(s.zk, s.path + "3");
        const auto node = s.leave(s.path + "3/" + id + "latch-");
        co_await s.tells(call([&](auto token) { e.campaign(std::move(token)); }), s.path + "3",
                         node);
    }
}

CO_TEST("a persistent contender before a key's, sticky or recursive lock is in the log") {
    left_scene s(executor, test.full_or_brief(1s, 500ms));
    const auto call = [](auto operation) { return start<guard>(std::move(operation)); };
    {
        const lock_family family(s.zk, s.path + "4");
        const auto node = s.leave(s.path + "4/key/" + id + "lock-");
        co_await s.tells(call([&](auto token) { family.lock("key", std::move(token)); }),
                         s.path + "4/key", node);
    }
    {
        mutex_options sticky;
        sticky.max_local_handoffs = 4;
        const mutex m(s.zk, s.path + "5", sticky);
        const auto node = s.leave(s.path + "5/" + id + "lock-");
        co_await s.tells(call([&](auto token) { m.lock(std::move(token)); }), s.path + "5", node);
    }
    {
        const recursive_mutex m(s.zk, s.path + "6");
        const auto node = s.leave(s.path + "6/0123456789abcdef0123456789abcdef__lock__");
        const owner o;
        co_await s.tells(call([&](auto token) { m.lock(o, std::move(token)); }), s.path + "6",
                         node);
    }
}

CO_TEST("a persistent permit node, or one in the queue of a semaphore, is in the log") {
    left_scene s(executor, test.full_or_brief(1s, 500ms));
    semaphore queued(s.zk, s.path + "1", 1);
    const auto contender = s.leave(s.path + "1/locks/" + id + "lock-");
    co_await s.tells(ask(queued), s.path + "1", contender);

    semaphore pool(s.zk, s.path + "2", 2);
    const auto permit = s.leave(s.path + "2/leases/" + id + "lease-");
    const auto one = ask(pool);
    co_await granted(one);
    const auto before = s.proxy.count(direction::up, opcode::exists);
    const auto two = ask(pool);
    co_await eventually([&] { return !about(s.log, s.path + "2").empty(); });
    CHECK(s.proxy.count(direction::up, opcode::exists) - before <= 2);
    co_await s.tells(two, s.path + "2", permit);
}

CO_TEST("a persistent node at the path of a simple_mutex is in the log") {
    left_scene s(executor, test.full_or_brief(1s, 500ms));
    const simple_mutex m(s.zk, s.path);
    const auto node = s.leave(s.path, node_mode::persistent);
    co_await s.tells(start<guard>([&](auto token) { m.lock(std::move(token)); }), s.path, node);
}

CO_TEST("waiting behind a living session is not in the log as a leftover") {
    left_scene s(executor, test.full_or_brief(1s, 500ms));
    const mutex m(s.zk, s.path + "1");
    semaphore pool(s.zk, s.path + "2", 1);
    const simple_mutex simple(s.zk, s.path + "3");
    const auto first = s.leave(s.path + "1/" + id + "lock-", node_mode::ephemeral_sequential);
    const auto second =
        s.leave(s.path + "2/leases/" + id + "lease-", node_mode::ephemeral_sequential);
    const auto third = s.leave(s.path + "3", node_mode::ephemeral);
    const std::vector<lock_call> all{
        start<guard>([&](auto token) { m.lock(std::move(token)); }), ask(pool),
        start<guard>([&](auto token) { simple.lock(std::move(token)); })};
    // The permit node is read when it has been waited for so long.
    co_await eventually([&] { return s.proxy.count(direction::down, opcode::exists) >= 1; });
    // So long again, behind a leftover.
    const mutex later(s.zk, s.path + "4");
    const auto left = s.leave(s.path + "4/" + id + "lock-");
    co_await s.tells(start<guard>([&](auto token) { later.lock(std::move(token)); }), s.path + "4",
                     left);
    for (const auto& other : {"1", "2", "3"})
        CHECK(about(s.log, s.path + other).empty());
    CHECK(s.proxy.count(direction::up, opcode::exists) <= s.proxy.accepted()); // read once
    for (const auto& node : {first, second, third})
        s.direct.remove(node);
    for (const auto& one : all)
        co_await granted(one);
}

CO_TEST("callers who wait for less than the session timeout hear of a leftover, too") {
    left_scene s(executor, 10s);
    const auto node = s.leave(s.path + "1/" + id + "lock-");
    mutex m(s.zk, s.path + "1");
    s.leave(s.path + "2", node_mode::persistent);
    const simple_mutex simple(s.zk, s.path + "2");
    co_await s.zk.connect();
    for (int n = 0; n < 2; ++n) {
        co_await finished(ask_for(m, 300ms));
        co_await finished(
            start<guard>([&](auto token) { simple.try_lock_for(300ms, std::move(token)); }));
    }
    REQUIRE(about(s.log, s.path + "1").size() == 1);
    CHECK(has(about(s.log, s.path + "1")[0], " behind the node " + node + ", which belongs to no"));
    REQUIRE(about(s.log, s.path + "2").size() == 1);
    CHECK(has(about(s.log, s.path + "2")[0], " behind the node " + s.path + "2, which belongs"));
}
