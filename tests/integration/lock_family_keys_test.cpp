// The keys of a lock family: any bytes, bad ones, and families that cannot be used.

#include "lock_family_support.hpp"
#include "unit/complaint.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/strand.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

static_assert(!std::is_constructible_v<lock_family, client, const char*>);
static_assert(!std::is_constructible_v<shared_lock_family, client, const char*>);

std::string every_byte() {
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    return all;
}

} // namespace

CO_TEST("a key can be any bytes, and each has a lock of its own") {
    family_scene s(executor);
    co_await s.zk.connect();
    co_await s.other.connect();
    const std::vector<std::string> keys{".",
                                        "..",
                                        "/",
                                        "a/b",
                                        "%2F",
                                        std::string(1, '\0'),
                                        "\xff",
                                        "\xed\xa0\x80",
                                        "\xef\xbf\xbf",
                                        "𝄞",
                                        "Ärmel €",
                                        "zookeeper",
                                        every_byte(),
                                        std::string(200, 'x'),
                                        std::string(201, 'x'),
                                        std::string(4096, 'x'),
                                        std::string(4095, 'x') + 'y',
                                        std::string(4096, '\xff'),
                                        std::string(3 * 1365, '\xe2') + '\n'};
    std::vector<guard> all;
    for (const auto& key : keys) {
        CAPTURE(key);
        all.push_back(co_await s.ours.lock(key));
        CHECK(all.back().path().starts_with(s.ours.path_of(key) + "/_c_"));
        CHECK(s.queue(key).size() == 1);
        CHECK_FALSE(co_await s.theirs.try_lock(key));
    }
    CHECK(s.direct.children(s.path).size() == keys.size());
    for (const auto& g : all)
        CHECK(g.valid());
}

CO_TEST("an operation copies its key, also one that begins later") {
    family_scene s(executor);
    std::string key = "the first of two";
    auto lock = s.ours.lock(key);
    auto look = s.ours.contenders(std::string_view(key), asio::deferred);
    const auto at_once = start<guard>([&](auto token) { s.theirs.lock(key, std::move(token)); });
    key.assign("another");
    co_await granted(at_once);
    CHECK(s.queue("the first of two").size() == 1);
    const auto seen = co_await std::move(look)(asio::use_awaitable);
    CHECK(seen.size() == 1);
    co_await unlocked(at_once);
    const guard g = co_await std::move(lock);
    CHECK(g.path().starts_with(s.path + "/the first of two/"));
}

CO_TEST("a bad key fails at once on the handler's executor, and nothing is sent") {
    family_scene s(executor);
    const shared_lock_family rw(s.zk, s.path);
    co_await s.zk.connect();
    const auto strand = asio::make_strand(executor);
    for (const auto& key : {std::string(), std::string(4097, 'x')}) {
        s.proxy.forget_frames();
        int calls = 0;
        const auto refused = [&](auto operate) {
            const auto seen = std::make_shared<bool>(false);
            operate(asio::bind_executor(strand, [&, seen](error_code why, auto result) {
                CHECK(strand.running_in_this_thread());
                CHECK(why == errc::bad_argument);
                static_cast<void>(result);
                CHECK_FALSE(std::exchange(*seen, true));
                --calls;
            }));
            ++calls;
            CHECK_FALSE(*seen); // not from within
        };
        refused([&](auto t) { s.ours.lock(key, std::move(t)); });
        refused([&](auto t) { s.ours.try_lock(key, std::move(t)); });
        refused([&](auto t) { s.ours.try_lock_for(key, 1s, std::move(t)); });
        refused([&](auto t) { s.ours.enqueue(key, std::move(t)); });
        refused([&](auto t) { s.ours.contenders(key, std::move(t)); });
        refused([&](auto t) { rw.lock(key, std::move(t)); });
        refused([&](auto t) { rw.try_lock(key, std::move(t)); });
        refused([&](auto t) { rw.try_lock_for(key, 1s, std::move(t)); });
        refused([&](auto t) { rw.lock_shared(key, std::move(t)); });
        refused([&](auto t) { rw.try_lock_shared(key, std::move(t)); });
        refused([&](auto t) { rw.try_lock_shared_for(key, 1s, std::move(t)); });
        refused([&](auto t) { rw.contenders(key, std::move(t)); });
        co_await eventually([&] { return calls == 0; });
        CHECK(s.proxy.count(direction::up, opcode::create2) == 0);
        CHECK(s.proxy.count(direction::up, opcode::children2) == 0);
    }
    CHECK_FALSE(s.direct.exists(s.path));
}

CO_TEST("every operation of a family that was moved from is refused") {
    client zk(executor, "127.0.0.1:1");
    lock_family orders(zk, "/orders");
    shared_lock_family prices(zk, "/prices");
    const lock_family to_orders(std::move(orders));
    const shared_lock_family to_prices(std::move(prices));
    CHECK_FALSE(orders.get_executor());
    CHECK(to_orders.get_executor() == zk.get_executor());
    int refused = 0;
    const auto token = [&] {
        return asio::bind_executor(executor, [&](error_code why, auto&&) {
            CHECK(why == errc::bad_argument);
            ++refused;
        });
    };
    orders.lock("a", token());
    orders.try_lock_for("a", 1s, token());
    orders.enqueue("a", token());
    orders.contenders("a", token());
    prices.lock("a", token());
    prices.try_lock_shared("a", token());
    prices.contenders("a", token());
    CHECK(refused == 0);
    co_await eventually([&] { return refused == 7; });
    CHECK(complaint([&] { orders.path_of("a"); }).find("lock_family was moved from") == 0);
    CHECK(complaint([&] { prices.path_of("a"); }).find("shared_lock_family was moved from") == 0);
}

TEST_CASE("a family refuses malformed arguments") {
    asio::io_context io;
    const client zk(io.get_executor(), "127.0.0.1:1");
    const auto said = [&](const std::string& path, const mutex_options& how = {}) {
        const auto text = complaint([&] { const lock_family all(zk, path, how); });
        shared_mutex_options shared;
        shared.label = how.label;
        shared.acl = how.acl;
        const auto other = complaint([&] { const shared_lock_family all(zk, path, shared); });
        if (text.starts_with("lock_family path"))
            CHECK(other == "shared_" + text);
        else if (how.name == "lock")
            CHECK((other == "no complaint") == (text == "no complaint"));
        return text;
    };
    CHECK(said("/orders") == "no complaint");
    CHECK(said('/' + std::string(310, 'x')) == "no complaint");
    CHECK(has(said(""), "lock_family path '' is empty"));
    CHECK(has(said("orders"), "lock_family path 'orders' does not start with '/'"));
    CHECK(has(said("/"), "lock_family path '/' is reserved"));
    CHECK(has(said("/zookeeper"), "is reserved"));
    CHECK(has(said("/orders/"), "ends with '/'"));
    CHECK(has(said('/' + std::string(311, 'x')), "lock_family path is longer than 311 bytes"));
    mutex_options bare;
    bare.acl.clear();
    CHECK(has(said("/orders", bare), "acl is empty"));
    mutex_options odd;
    odd.label = "\xff";
    CHECK(has(said("/orders", odd), "label"));
    mutex_options named;
    named.name = "a/b";
    CHECK(has(said("/orders", named), "mutex_options::name"));
}

TEST_CASE("path_of() names a lock's directory, and refuses bad keys") {
    asio::io_context io;
    const client zk(io.get_executor(), "127.0.0.1:1");
    const lock_family orders(zk, "/orders");
    const shared_lock_family prices(zk, "/prices");
    CHECK(orders.path_of("4711") == "/orders/4711");
    CHECK(orders.path_of("..") == "/orders/%2E.");
    CHECK(prices.path_of("a/b") == "/prices/a%2Fb");
    CHECK(has(complaint([&] { orders.path_of(""); }), "key is empty"));
    CHECK(has(complaint([&] { orders.path_of(std::string(4097, 'x')); }),
              "key is longer than 4096 bytes"));
    CHECK(has(complaint([&] { prices.path_of(""); }), "key is empty"));
    // Every key's lock has a path that a mutex accepts.
    const lock_family longest(zk, '/' + std::string(310, 'x'));
    for (const auto& key : {std::string(200, 'a'), std::string(201, 'a'), std::string(4096, '/'),
                            std::string(66, '/') + "aa", every_byte()}) {
        CHECK(longest.path_of(key).size() <= 512);
        CHECK(complaint([&] { const mutex m(zk, longest.path_of(key)); }) == "no complaint");
    }
}

CO_TEST("close deletes a directory that an expired session left, though it was used again") {
    family_scene s(executor);
    const auto first = ask(s.ours, "k");
    co_await finished(first);
    s.proxy.refuse(true);
    s.proxy.cut_all(cut::rst);
    co_await eventually([&] { return s.zk.state() != client_state::connected; });
    held(first) = guard();
    const auto again = ask(s.ours, "k");
    kill_session(shared_server().address(), s.proxy.last_credentials());
    s.proxy.refuse(false);
    co_await finished(again);
    const auto directory = s.ours.path_of("k");
    co_await s.zk.exists("/"); // the client has looked at the directory meanwhile
    CHECK(held(again).valid());
    co_await s.zk.close();
    CHECK_FALSE(s.direct.exists(directory));
}
