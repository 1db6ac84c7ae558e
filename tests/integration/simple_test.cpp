// simple_mutex: one node; the client that creates it holds the lock, and waiters race when it goes.

#include "simple_support.hpp"
#include "support/admin.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <cstdio>

using namespace paddock;
using namespace paddock::test;
using namespace boost::asio::experimental::awaitable_operators;

namespace {

using codes = std::vector<std::int32_t>;

under_way<std::optional<contender>> ask_holder(simple_mutex& m) {
    return start<std::optional<contender>>([&](auto token) { m.holder(std::move(token)); });
}

} // namespace

CO_TEST("a free lock is taken in one round trip, and released with one multi") {
    simple_scene s(executor);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    s.proxy.hold(direction::down);
    const auto a = ask(s.lock);
    co_await eventually([&] { return s.proxy.waiting(direction::down) >= 2; });
    CHECK(s.requests() == codes{opcode::multi, opcode::get});
    CHECK_FALSE(a->done());
    s.proxy.release(direction::down);
    co_await granted(a);
    CHECK(held(a).path() == s.path);
    CHECK(held(a).fencing_token().zxid == s.direct.stat(s.path)->czxid);
    CHECK(s.nodes() ==
          std::vector<std::string>{s.marker(1).substr(s.directory.size() + 1), "lock"});
    CHECK(s.direct.stat(s.marker(1))->czxid == s.direct.stat(s.path)->czxid);
    s.proxy.forget_frames();
    co_await held(a).unlock();
    CHECK(s.nodes().empty());
    CHECK(s.requests() == codes{opcode::multi});
}

CO_TEST("a waiter waits for a foreign node, however it was created") {
    simple_scene s(executor);
    co_await s.zk.connect();
    s.foreigner_takes_it();
    const auto a = ask(s.lock);
    const auto b = ask(s.lock);
    co_await eventually([&] { return s.answered(opcode::get) == 1; });
    s.direct.set(s.path, "changed"); // uses the watch up
    co_await eventually([&] { return s.answered(opcode::get) == 2; });
    CHECK_FALSE(a->done());
    s.direct.remove(s.path);
    co_await granted(a);
    CHECK_FALSE(b->done());
    co_await held(a).unlock();
    co_await granted(b);
    CHECK(s.sent(opcode::multi) == 4); // race, race, release, race: one at a time for one object
    held(b) = guard();
    co_await s.until_nodes(0);
}

CO_TEST("try_lock writes nothing when the lock is taken, and takes it when it is free") {
    simple_scene s(executor);
    const auto early = ask_now(s.lock);
    co_await finished(early);
    CHECK(early->error == errc::not_connected);
    co_await s.zk.connect();
    s.foreigner_takes_it();
    const auto busy = ask_now(s.lock);
    const auto zero = ask_for(s.lock, 0ns);
    co_await finished(busy);
    co_await finished(zero);
    CHECK_FALSE(busy->error);
    CHECK_FALSE(held(busy));
    CHECK_FALSE(held(zero));
    CHECK(s.sent(opcode::multi) == 0);
    const auto late = ask_for(s.lock, 50ms);
    co_await finished(late);
    CHECK_FALSE(late->error);
    CHECK_FALSE(held(late));
    co_await s.zk.exists("/"); // with a slow server the limit passes before the answer to the race
    s.direct.remove(s.path);
    const auto a = ask_now(s.lock);
    co_await granted(a);
    s.proxy.forget_frames();
    const auto again = ask_now(s.lock); // known here without a request
    co_await finished(again);
    CHECK_FALSE(held(again));
    CHECK(s.requests().empty());
    held(a) = guard();
    const auto at_once = ask_now(s.lock); // released before the call
    co_await granted(at_once);
    held(at_once) = guard();
    const auto until = std::chrono::steady_clock::now() + 5s;
    auto last = co_await s.lock.try_lock_until(until);
    CHECK(last.valid());
}

CO_TEST("with sync_first try_lock asks the server to catch up") {
    simple_mutex_options terms;
    terms.sync_first = true;
    simple_scene s(executor, {}, terms);
    co_await s.zk.connect();
    s.proxy.forget_frames();
    auto hold = co_await s.lock.try_lock();
    CHECK(hold.valid());
    CHECK(s.requests() == codes{opcode::sync, opcode::exists, opcode::multi, opcode::get});
}

CO_TEST("the holder can be read, with its data") {
    simple_mutex_options terms;
    terms.label = "me \"and\" you";
    simple_scene s(executor, {}, terms);
    const auto no_holder = ask_holder(s.lock);
    co_await finished(no_holder);
    CHECK_FALSE(no_holder->error);
    CHECK_FALSE(std::get<0>(no_holder->result));
    auto hold = co_await s.lock.lock();
    const auto holder = ask_holder(s.lock);
    co_await finished(holder);
    const auto& seen = std::get<0>(holder->result);
    REQUIRE(seen);
    CHECK(seen->path == s.path);
    CHECK(seen->holder);
    CHECK(seen->session == s.zk.session_id());
    CHECK(seen->token == hold.fencing_token());
    CHECK(seen->label == terms.label);
    CHECK(seen->pid == ::getpid());
    CHECK(s.marker(1).find("0000-000000000001") != std::string::npos);
    CHECK(seen->data.find("0000-000000000001") != std::string::npos);
    co_await hold.unlock();
    s.foreigner_takes_it();
    const auto foreign_holder = ask_holder(s.lock);
    co_await finished(foreign_holder);
    REQUIRE(std::get<0>(foreign_holder->result));
    CHECK(std::get<0>(foreign_holder->result)->data == "foreign");
}

CO_TEST("missing parents are created, also below a root") {
    fault_proxy proxy(shared_server().port());
    foreigner direct(shared_server().address());
    client_options options;
    options.root = fresh_root() + "/deep";
    options.create_root = true;
    client zk(executor, proxy.address(), options);
    simple_mutex m(zk, "/a/b/lock");
    simple_mutex top(zk, "/lock");
    auto hold = co_await m.lock();
    CHECK(hold.path() == "/a/b/lock");
    CHECK(direct.children(options.root + "/a/b").size() == 2);
    auto second = co_await top.lock();
    co_await hold.verify();
    co_await hold.unlock();
    co_await second.unlock();
    CHECK(direct.children(options.root) == std::vector<std::string>{"a"});
}

CO_TEST("verify and transaction check the lock's node and the marker") {
    simple_scene s(executor);
    auto hold = co_await s.lock.lock();
    co_await hold.verify();
    const auto data = s.path + "-data";
    std::vector<operation> steps{op::create{data, "x"}, op::set{data, "y"}};
    const auto results = co_await hold.transaction(steps);
    CHECK(results.size() == 2);
    CHECK(results.at(0).path == data);
    CHECK(s.direct.get(data).data == "y");
    // A foreign node of the same name is not enough.
    s.proxy.hold(direction::down);
    s.direct.remove(s.path);
    s.direct.remove(s.marker(1));
    s.foreigner_takes_it();
    std::vector<operation> late{op::set{data, "z"}};
    const auto refused = start<std::vector<operation_result>>(
        [&](auto token) { hold.transaction(late, std::move(token)); });
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 1; });
    s.proxy.release(direction::down);
    co_await finished(refused);
    CHECK(refused->error == errc::lock_lost);
    CHECK(s.direct.get(data).data == "y");
    co_await eventually([&] { return !hold.valid(); });
    hold = guard();
    co_await s.zk.exists("/");
    CHECK(s.direct.get(s.path).data == "foreign");
    s.direct.remove(data);
}

CO_TEST("many clients, objects and coroutines hold the lock one at a time, and all are served") {
    simple_scene s(executor);
    client second(executor, shared_server().address());
    simple_mutex other(second, s.path), same(s.zk, s.path);
    int inside = 0, served = 0;
    const int rounds = test.full_or_brief(15, 3);
    fencing_token last{};
    const auto work = [&](simple_mutex m) -> asio::awaitable<void> {
        for (int i = 0; i < rounds; ++i) {
            auto hold = co_await m.lock();
            CHECK(++inside == 1);
            CHECK(hold.fencing_token() > last);
            last = hold.fencing_token();
            co_await asio::post(executor, asio::use_awaitable);
            CHECK(hold.valid());
            --inside;
            ++served;
            if (i % 2 == 0) co_await hold.unlock();
        }
    };
    co_await (work(s.lock) && work(other) && work(same) && work(s.lock) && work(other));
    CHECK(served == 5 * rounds);
    co_await s.until_nodes(0);
}

namespace {

/// Several clients want a lock, and its holder releases it: how many events wake waiters, and how
/// many writes these send. Each waiter has sent this many `gets`.
template <class Mutex>
asio::awaitable<std::pair<std::size_t, std::size_t>>
cost_of_release(asio::any_io_executor executor, std::string path, int clients, std::size_t gets) {
    fault_proxy proxy(shared_server().port());
    std::vector<std::unique_ptr<client>> all;
    std::vector<Mutex> locks;
    for (int i = 0; i < clients; ++i) {
        all.push_back(std::make_unique<client>(executor, proxy.address()));
        locks.emplace_back(*all.back(), path);
        co_await all.back()->connect();
    }
    auto hold = co_await locks[0].lock();
    std::vector<lock_call> waiting;
    for (int i = 1; i < clients; ++i)
        waiting.push_back(start<guard>([&](auto token) { locks[i].lock(std::move(token)); }));
    co_await eventually(
        [&] { return proxy.count(direction::down, opcode::get) >= gets * (clients - 1); });
    const auto settled = [&]() -> asio::awaitable<void> {
        for (int round = 0; round < 2; ++round) // requests that an event causes are answered, too
            for (const auto& one : all)
                co_await one->exists("/");
    };
    co_await settled();
    proxy.forget_frames();
    co_await hold.unlock();
    const auto done = [](const lock_call& a) { return a->done(); };
    co_await eventually([&] { return std::any_of(waiting.begin(), waiting.end(), done); });
    co_await settled();
    const auto counted = proxy.snapshot().count_if([](const frame& f) {
        return f.connection > 1 && f.way == direction::down && f.opcode == opcode::notification;
    });
    const auto writes = proxy.snapshot().count_if([](const frame& f) {
        return f.connection > 1 && f.way == direction::up &&
               (f.opcode == opcode::multi || f.opcode == opcode::create2);
    });
    for (auto& one : waiting)
        one->cancel();
    for (auto& one : waiting) {
        co_await finished(one);
        held(one) = guard();
    }
    co_return std::pair(counted, writes);
}

} // namespace

CO_TEST("a release wakes all waiters, unlike that of the fair mutex") {
    const auto root = fresh_root();
    const int all = test.full_or_brief(10, 3);
    const std::size_t waiting = all - 1;
    const auto simple = co_await cost_of_release<simple_mutex>(executor, root + "/simple", all, 1);
    const auto fair = co_await cost_of_release<mutex>(executor, root + "/fair", all, 2);
    std::printf(
        "one release, %zu clients wait: simple_mutex wakes %zu, which send %zu writes; mutex "
        "wakes %zu, which send %zu\n",
        waiting, simple.first, simple.second, fair.first, fair.second);
    CHECK(simple == std::pair(waiting, waiting));
    CHECK(fair == std::pair<std::size_t, std::size_t>(1, 0));
}

CO_TEST("destroyed objects leave no watch behind") {
    simple_scene s(executor);
    s.foreigner_takes_it();
    for (int i = 0; i < 20; ++i) {
        simple_mutex brief(s.zk, s.path), free(s.zk, s.path + "-free");
        const auto a = ask(brief);
        auto hold = co_await free.lock();
        co_await eventually([&] { return s.answered(opcode::get) >= 2 * std::size_t(i) + 2; });
        a->cancel();
        co_await finished(a);
    }
    s.direct.remove(s.path);
    co_await s.until_nodes(0);
    co_await eventually(
        [&] { return count_watches_under(shared_server().admin_port(), s.directory) == 0; });
}

CO_TEST("without room in the budget a call waits, or fails by option") {
    client_options options;
    options.budgets.node_path_bytes = 1024;
    simple_scene s(executor, options);
    std::vector<lock_call> holds;
    std::vector<simple_mutex> locks;
    for (int i = 0; i < 20; ++i)
        locks.emplace_back(s.zk, s.path + std::to_string(i));
    for (auto& m : locks)
        holds.push_back(ask(m));
    const auto count = [&] {
        return std::count_if(holds.begin(), holds.end(), [](const auto& a) { return a->done(); });
    };
    co_await eventually([&] { return count() >= 5; });
    co_await s.zk.exists("/");
    CHECK(count() < 20);
    simple_mutex_options terms;
    terms.on_over_budget = on_over_budget::fail;
    simple_mutex strict(s.zk, s.path + "-strict", terms);
    const auto refused = ask(strict);
    const auto tried = ask_now(s.lock);
    co_await finished(refused);
    co_await finished(tried);
    CHECK(refused->error == errc::over_budget);
    CHECK_FALSE(tried->error);
    CHECK_FALSE(held(tried));
    holds.back()->cancel();
    for (auto& one : holds) {
        co_await finished(one);
        held(one) = guard();
    }
    co_await s.until_nodes(0);
}

CO_TEST("a refused request ends the waits, and an unreadable lock node does not") {
    simple_scene s(executor);
    const test::acl_entry no_read{30, "world", "anyone"}, no_create{27, "world", "anyone"};
    s.direct.create(s.path, "", node_mode::ephemeral, {no_read});
    const auto a = ask(s.lock);
    co_await eventually([&] { return s.answered(opcode::get) >= 2; }); // no watch: again and again
    CHECK_FALSE(a->done());
    s.direct.remove(s.path);
    co_await granted(a);
    co_await held(a).unlock();

    s.direct.set_acl(s.directory, {no_create});
    const auto refused = ask(s.lock), too = ask(s.lock), tried = ask_now(s.lock);
    for (const auto& one : {refused, too, tried})
        co_await finished(one);
    CHECK(refused->error == zk_errc::no_auth);
    CHECK(too->error == zk_errc::no_auth);
    s.direct.set_acl(s.directory, {test::acl_entry()});

    simple_mutex_options terms;
    terms.acl = {{permission::remove, "world", "anyone"}}; // it may not read its own node
    simple_mutex blind(s.zk, s.path, terms);
    const auto hidden = ask(blind);
    co_await finished(hidden);
    CHECK(hidden->error == zk_errc::no_auth);
    co_await s.until_nodes(0);
}

TEST_CASE("a simple_mutex refuses malformed arguments") {
    asio::io_context io;
    const client zk(io.get_executor(), "localhost");
    const auto complaint = [&](const std::string& path, const simple_mutex_options& terms = {}) {
        try {
            simple_mutex(zk, path, terms);
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    for (const std::string path :
         {"", "x", "/", "/x/", "//x", "/zookeeper", "/zookeeper/x", "/x/_c_y"})
        CHECK(complaint(path).find("simple_mutex path") != std::string::npos);
    CHECK(complaint('/' + std::string(600, 'x')).find("longer than 512") != std::string::npos);
    CHECK(complaint("/x/y").empty());
    simple_mutex_options terms;
    terms.label = "\xff";
    CHECK(complaint("/x", terms).find("simple_mutex_options::label") != std::string::npos);
    terms.label.clear();
    terms.acl.clear();
    CHECK(complaint("/x", terms).find("simple_mutex_options::acl") != std::string::npos);
}
