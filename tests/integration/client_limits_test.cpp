// Requests that are larger than a server accepts (its jute.maxbuffer).

#include "client_support.hpp"
#include "rules/request_bytes.hpp"

#include <paddock/mutex.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::size_t too_large = 1100 * 1024;

/// The data that makes a request of this size.
std::string filling(std::size_t request, const std::string& path, const acl& entries = {}) {
    return std::string(request - rules::request_bytes(path, {}, entries), 'x');
}

/// Accepts requests of up to 4 MiB.
zk_server& generous_server() {
    static zk_server one({.java = {"-Djute.maxbuffer=4194304"}});
    return one;
}

acl long_acl() {
    acl all;
    while (all.size() < too_large / 100)
        all.push_back({permission::all, "digest", std::string(100, 'x')});
    return all;
}

} // namespace

CO_TEST("a request that a server would not accept is refused, and the connection lives on") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    co_await zk.connect();
    const std::string data(too_large, 'x');
    const auto path = '/' + data;
    watch changed(zk);
    tally all;
    start_every_operation(zk, path, all);
    zk.get(path, changed, all.expect());
    zk.create("/a", data, create_options(), all.expect());
    zk.create("/a", "", create_options{.acl = long_acl()}, all.expect());
    zk.set("/a", data, any_version, all.expect());
    zk.set_acl("/a", long_acl(), any_version, all.expect());
    zk.multi({op::check{"/"}, op::set{"/a", data}}, all.expect());
    zk.multi(std::vector<operation>(40'000, op::check{"/zookeeper"}), all.expect());
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::bad_argument));
    CHECK(proxy.count(direction::up) == 0);
    co_await zk.exists("/");
    CHECK(proxy.accepted() == 1);
}

CO_TEST("a server with default settings accepts the largest request that is allowed") {
    fault_proxy proxy(shared_server().port());
    client_options options;
    // A server keeps the last 500 writes in its memory.
    options.max_request_bytes = test.full_or_brief(options.max_request_bytes, 256UL * 1024);
    client zk(executor, proxy.address(), options);
    const auto path = fresh_root();
    const auto limit = options.max_request_bytes;
    const auto data = filling(limit, path, open_acl());
    co_await zk.create(path, data, create_options());
    co_await zk.set(path, filling(limit, path), any_version);
    std::vector<operation> steps{op::set{path, ""}};
    steps[0] = op::set{path, std::string(limit - rules::request_bytes(steps), 'x')};
    co_await zk.multi(steps);
    const auto read = co_await zk.get(path);
    CHECK(read.stat.version == 2);
    CHECK(proxy.accepted() == 1);

    std::get<op::set>(steps[0]).data += 'x';
    const auto [error, results] = co_await zk.multi(steps, no_throw);
    CHECK(error == errc::bad_argument);
}

CO_TEST("the root counts for the size of a request") {
    client_options options;
    options.root = fresh_root();
    client zk(executor, shared_server().address(), options);
    const auto data = filling(options.max_request_bytes, "/a", open_acl());
    const auto [error, made] = co_await zk.create("/a", data, create_options(), no_throw);
    CHECK(error == errc::bad_argument);
}

CO_TEST("the counted size is the size sent, or a few bytes more") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto path = fresh_root();
    const std::vector<operation> steps{op::create{path + "/a", "1"}, op::set{path + "/a", "22"},
                                       op::check{path + "/a"}, op::remove{path + "/a"}};
    const auto plain = rules::request_bytes(path);
    const std::vector<std::size_t> counted{rules::request_bytes(path, "data", open_acl()),
                                           plain,
                                           plain,
                                           plain,
                                           plain,
                                           plain,
                                           rules::request_bytes(path, {}, open_acl()),
                                           rules::request_bytes(path, "new"),
                                           rules::request_bytes(steps),
                                           plain};
    co_await zk.create(path, "data", create_options());
    co_await zk.get(path);
    co_await zk.exists(path);
    co_await zk.children(path);
    co_await zk.sync(path);
    co_await zk.get_acl(path);
    co_await zk.set_acl(path, open_acl(), any_version);
    co_await zk.set(path, "new", any_version);
    co_await zk.multi(steps);
    co_await zk.remove(path, any_version);
    std::vector<std::size_t> sent;
    for (const auto& one : proxy.snapshot().frames)
        if (one.way == direction::up && one.counts()) sent.push_back(one.size - 4);
    REQUIRE(sent.size() == counted.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        CHECK(counted[i] >= sent[i]);
        CHECK(counted[i] <= sent[i] + 80);
    }
}

CO_TEST("an option raises the limit for servers that accept more") {
    client_options options;
    options.max_request_bytes = test.full_or_brief(4 * 1024 * 1024 - 1024UL, 256UL * 1024);
    client zk(executor, generous_server().address(), options);
    const auto path = fresh_root();
    const auto data = filling(options.max_request_bytes, path, open_acl());
    co_await zk.create(path, data, create_options());
    const auto read = co_await zk.get(path);
    CHECK(read.data == data);
}

CO_TEST("a transaction that is too large is refused, and its guard lives on") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    const auto path = fresh_root();
    co_await zk.create(path, "", create_options());
    mutex lock(zk, path + "/lock");
    auto held = co_await lock.lock();
    std::vector<operation> steps{op::set{path, ""}};
    // The check of the lock's node is no longer in it.
    steps[0] = op::set{
        path, std::string(client_options().max_request_bytes - rules::request_bytes(steps), 'x')};
    const auto [error, results] = co_await held.transaction(steps, no_throw);
    CHECK(error == errc::bad_argument);
    CHECK(held.valid());
    steps[0] = op::set{path, "small"};
    co_await held.transaction(steps);
    contender other;
    other.path = path + "/lock/" + std::string(too_large, 'x') + "-lock-0000000001";
    const auto [foreign] = co_await lock.revoke(other, no_throw);
    CHECK(foreign == errc::bad_argument);
    co_await held.unlock();
    CHECK(proxy.accepted() == 1);
}
