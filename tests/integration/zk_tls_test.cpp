// Clients whose connections to ZooKeeper are encrypted.

#include "client_support.hpp"
#include "support/links.hpp"
#include "support/run_until.hpp"
#include "support/stall_meter.hpp"
#include "zk_tls_support.hpp"

#include <paddock/any_client.hpp>

#include <boost/asio/redirect_error.hpp>

#include <fcntl.h>
#include <optional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace paddock;
using namespace paddock::test;

CO_TEST("over TLS clients lock, wait for their predecessors, and see what they watch") {
    auto& server = tls_server();
    const auto path = fresh_root();
    client one(executor, server.address(), encrypted());
    client two(executor, "localhost:" + std::to_string(server.port()), encrypted());
    paddock::mutex first(one, path), second(two, path);
    auto hold = co_await first.lock();
    const auto asked = ask(second);
    foreigner direct(server.plain_address());
    co_await eventually([&] { return queue_at(direct, path).size() == 2; });
    CHECK_FALSE(asked->done());
    co_await hold.unlock();
    co_await eventually([&] { return asked->done(); });
    CHECK(held(asked).valid());
    held(asked) = guard();

    const auto node = fresh_root();
    direct.create(node, "before");
    paddock::watch changed(one);
    co_await one.get(node, changed);
    direct.set(node, "after");
    const auto what = co_await changed.event();
    CHECK(what == watch_event::changed);
}

CO_TEST("over TLS a node of almost a megabyte goes there and back") {
    const std::string data(900'000, 'x');
    const auto node = fresh_root();
    client zk(executor, tls_server().address(), encrypted());
    co_await zk.create(node, data);
    for (int n = 0; n < 3; ++n) {
        const auto read = co_await zk.get(node);
        CHECK(read.data == data);
    }
}

CO_TEST("a lock over TLS outlives cut connections, and a restart of its server") {
    static zk_server server({.tls = tls_of_server{.identity = issuer().issue()}});
    link_room room;
    auto& link = room.add(server.port());
    auto options = encrypted();
    options.session_timeout = 30s; // a server takes its time to start
    client zk(executor, link.address(), options);
    paddock::mutex lock(zk, fresh_root());
    auto hold = co_await lock.lock();
    for (const auto how : {cut::fin, cut::rst}) {
        link.cut_all(how);
        co_await eventually([&] { return zk.state() == client_state::suspended; });
        co_await eventually([&] { return zk.state() == client_state::connected; });
        CHECK(hold.valid());
    }
    server.kill();
    co_await eventually([&] { return zk.state() == client_state::suspended; });
    server.start();
    co_await eventually([&] { return zk.state() == client_state::connected; });
    CHECK(zk.epoch() == 1);
    CHECK(hold.valid());
    co_await hold.unlock();
}

CO_TEST("requests over TLS complete once, however their connections end") {
    link_room room;
    auto& link = room.add(tls_server().port());
    client zk(executor, link.address(), encrypted());
    const auto node = fresh_root();
    co_await zk.create(node, std::string(20'000, 'x'));
    for (int round = 0; round < 12; ++round) {
        tally all;
        for (int n = 0; n < 100; ++n) {
            if (n % 2 == 0)
                zk.get(node, all.expect());
            else
                zk.set(node, std::string(20'000, 'y'), any_version, all.expect());
        }
        co_await eventually(
            [&, some = static_cast<std::size_t>(round * 8)] { return all.completions() >= some; });
        link.cut_all(round % 2 == 0 ? cut::fin : cut::rst);
        co_await eventually([&] { return all.completions() == all.started(); });
        CHECK(all.all_once());
        for (std::size_t n = 0; n < all.started(); ++n)
            CHECK((!all.error(n) || all.error(n) == errc::outcome_unknown));
        co_await eventually([&] { return zk.state() == client_state::connected; });
    }
    CHECK(zk.epoch() == 1);
}

CO_TEST("a client that is closed ends its session over TLS") {
    auto& server = tls_server();
    foreigner direct(server.plain_address());
    const auto path = fresh_root();
    client zk(executor, server.address(), encrypted());
    paddock::mutex lock(zk, path);
    const auto hold = co_await lock.lock();
    CHECK(queue_at(direct, path).size() == 1);
    co_await zk.close();
    co_await eventually([&] { return queue_at(direct, path).empty(); }, 3s);
}

CO_TEST("a network that goes silent below TLS is noticed, and one that trickles is used") {
    auto& server = tls_server();
    link_room room;
    auto& link = room.add(server.port());
    client zk(executor, link.address(), [] {
        auto options = encrypted();
        options.session_timeout = 2s;
        return options;
    }());
    co_await zk.connect();
    link.black_hole(true);
    co_await eventually([&] { return zk.state() == client_state::suspended; });
    link.black_hole(false);
    co_await eventually([&] { return zk.state() == client_state::connected; });
    link.trickle(200);
    const std::string data(50'000, 'x');
    const auto node = fresh_root();
    co_await zk.create(node, data);
    const auto read = co_await zk.get(node);
    CHECK(read.data == data);
}

CO_TEST("a node for one certificate is closed to others") {
    const auto address = tls_server().address();
    client worker(executor, address,
                  encrypted(presenting(issuer().issue({.common_name = "worker"}))));
    client other(executor, address,
                 encrypted(presenting(issuer().issue({.common_name = "other"}))));
    client nobody(executor, address, encrypted());
    const auto node = fresh_root();
    create_options only_worker;
    only_worker.acl = {{permission::all, "x509", "CN=worker"}};
    co_await worker.create(node, "secret", only_worker);
    const auto read = co_await worker.get(node);
    CHECK(read.data == "secret");
    for (client* const each : {&other, &nobody}) {
        error_code error;
        co_await each->get(node, asio::redirect_error(asio::use_awaitable, error));
        CHECK(error == zk_errc::no_auth);
    }
}

CO_TEST("a client of any system is encrypted as well") {
    any_client_options options;
    options.tls = trusting(issuer());
    any_client zk(executor, "zookeeper://" + tls_server().address(), options);
    co_await zk.connect();
    const auto lock = zk.mutex(fresh_root());
    auto hold = co_await lock.lock();
    CHECK(hold.valid());
}

namespace {

/// All descriptors below 1024, as long as it exists.
struct taken_descriptors {
    taken_descriptors() {
        ::rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
        ::setrlimit(RLIMIT_NOFILE, &limit);
        while (all.empty() || (all.back() >= 0 && all.back() < 1024))
            all.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    ~taken_descriptors() {
        for (const int each : all)
            ::close(each);
    }
    taken_descriptors(const taken_descriptors&) = delete;
    taken_descriptors& operator=(const taken_descriptors&) = delete;

    std::vector<int> all;
};

} // namespace

CO_TEST("a hundred clients of one process lock over TLS, with descriptors beyond 1024") {
    const taken_descriptors low;
    std::deque<client> clients;
    std::deque<paddock::mutex> locks;
    std::vector<lock_call> calls;
    const auto how = encrypted();
    for (int n = 0; n < 100; ++n) {
        clients.emplace_back(executor, tls_server().address(), how);
        locks.emplace_back(clients.back(), fresh_root());
        calls.push_back(ask(locks.back()));
    }
    const auto all_done = [&] {
        return std::all_of(calls.begin(), calls.end(), [](auto& one) { return one->done(); });
    };
    co_await eventually(all_done, 40s);
    for (const auto& one : calls)
        CHECK(held(one).valid());
}

namespace {

/// A client with a lock, outside of coroutines.
struct tls_household {
    tls_household() {
        io.emplace(1);
        zk.emplace(io->get_executor(), tls_server().address(), encrypted());
        lock.emplace(*zk, path);
        const auto asked = ask(*lock);
        REQUIRE(run([&] { return asked->done(); }));
        hold = std::move(held(asked));
        REQUIRE(hold.valid());
    }
    template <class Predicate>
    bool run(Predicate predicate) {
        return run_until(*io, predicate);
    }

    const std::string path = fresh_root();
    std::optional<asio::io_context> io;
    std::optional<client> zk;
    std::optional<paddock::mutex> lock;
    guard hold;
    foreigner direct{tls_server().plain_address()};
};

} // namespace

TEST_CASE_FIXTURE(tls_household,
                  "a context that goes before its client ends the session over TLS") {
    REQUIRE(queue_at(direct, path).size() == 1);
    const auto begun = std::chrono::steady_clock::now();
    const stall_meter stalls;
    io.reset();
    CHECK(std::chrono::steady_clock::now() - begun < scaled(200ms) + stalls.allowance());
    CHECK_FALSE(hold.valid());
    const auto end = begun + scaled(3s); // the session timeout is 10 s
    while (!queue_at(direct, path).empty() && std::chrono::steady_clock::now() < end)
        direct.ping();
    CHECK(queue_at(direct, path).empty());
}

TEST_CASE_FIXTURE(tls_household, "a forked child sends nothing over its parent's TLS connection") {
    bool told = false;
    SUBCASE("its event loop was notified of the fork") { told = true; }
    SUBCASE("its event loop was not notified") {}
    if (told) io->notify_fork(asio::execution_context::fork_prepare);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (told) io->notify_fork(asio::execution_context::fork_child);
        const bool lost = !hold.valid();
        hold = guard();
        if (told) {
            lock.reset();
            zk.reset();
            io->run_for(50ms);
        }
        io.reset();
        ::_exit(lost ? 0 : 1);
    }
    if (told) io->notify_fork(asio::execution_context::fork_parent);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    const auto forked = boot_clock::now();
    CHECK(run([&] { return hold.valid_until() > forked + 10s * 3 / 4; }));
    CHECK(hold.valid());
    CHECK(zk->state() == client_state::connected);
    CHECK(zk->epoch() == 1);
    const auto end = give_back(hold);
    CHECK(run([&] { return end->done(); }));
    CHECK_FALSE(end->error);
    CHECK(queue_at(direct, path).empty());
}
