// A replica takes the place of its master, at the address that the clients know, with or without
// the lock that the master had granted last.

#include "support/links.hpp"
#include "support/redis_faults_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr std::array<bool, 2> lost_or_not{false, true};
constexpr auto brief_pause = 1ms; ///< a server rounds the times of keys and markers

/// A master with a replica, and links for the replica and for each of two clients.
struct replicated {
    explicit replicated(asio::any_io_executor executor, std::chrono::milliseconds max_ttl)
        : t(executor, 1, terms(max_ttl), {"--repl-diskless-sync-delay", "0"})
        , replica(own_servers(1))
        , call(replica[0].plain_port())
        , for_replica(room.add(t.own[0].plain_port()))
        , to_a(room.add(t.own[0].port()))
        , to_b(room.add(t.own[0].port()))
        , first(executor, url_of({to_a.port()}), t.options)
        , second(executor, url_of({to_b.port()}), t.options)
        , lock(first, t.s->name)
        , theirs(second, t.s->name) {
        call({"SELECT", database_of(1)});
        call({"REPLICAOF", "127.0.0.1", std::to_string(for_replica.port())});
    }
    static redis::client_options terms(std::chrono::milliseconds max_ttl) {
        auto options = new_servers(max_ttl);
        options.max_ttl = max_ttl;
        return options;
    }

    bool has_copy(const std::string& key) { return call({"EXISTS", key}).number == 1; }

    /// One client holds the lock, which is replicated or not, and the other waits for it.
    asio::awaitable<void> begin(bool loses) {
        co_await eventually([&] { return has_copy("paddock:server"); }); // of age, on the master
        for_replica.black_hole(loses);
        a = ask(lock);
        co_await granted(a);
        b = ask(theirs);
        co_await eventually([&] { return t.has_listener(); });
        if (!loses) co_await eventually([&] { return has_copy(t.s->name); });
        CHECK(has_copy(t.s->name) == !loses);
    }
    void promote() {
        t.own[0].kill();
        call({"REPLICAOF", "NO", "ONE"});
        promoted = std::chrono::steady_clock::now();
        to_a.lead_to(replica[0].port());
        to_b.lead_to(replica[0].port());
    }
    /// The promoted server was young for the longest time, and the token is larger.
    asio::awaitable<void> check_next() {
        co_await granted(b);
        CHECK(b->ended - promoted >= t.options.max_ttl - brief_pause);
        CHECK_FALSE(held(a).valid());
        CHECK(held(b).fencing_token() > token);
    }

    redis_trouble t;
    std::vector<redis_server> replica;
    redis_caller call; ///< to the replica
    link_room room;
    tcp_link &for_replica, &to_a, &to_b;
    redis::client first, second;
    redis::mutex lock, theirs;
    lock_call a, b;
    fencing_token token;
    std::chrono::steady_clock::time_point promoted;
};

} // namespace

CO_TEST("a promoted replica grants nothing that a holder who cannot reach it may still have") {
    if (torn_down(test)) co_return;
    for (const auto& round : test.each(lost_or_not)) {
        replicated r(executor, scaled(1500ms));
        co_await r.begin(std::get<0>(round));
        r.token = held(r.a).fencing_token();
        r.to_a.black_hole(true);
        r.promote();
        co_await r.check_next();
        r.to_a.heal();
        r.to_a.cut_all(cut::rst);
        const auto last = give_back(held(r.a));
        co_await finished(last);
        CHECK(last->error == errc::lock_lost);
        CHECK(held(r.b).valid());
        co_await held(r.b).verify();
        co_await unlocked(r.b);
    }
}

CO_TEST("a hold goes on at the promoted replica, and nobody else is granted the lock meanwhile") {
    if (torn_down(test)) co_return;
    replicated r(executor, scaled(3s));
    constexpr bool loses = true;
    co_await r.begin(loses);
    r.token = held(r.a).fencing_token();
    const auto before = held(r.a).valid_until();
    r.promote();
    co_await eventually([&] { return held(r.a).valid_until() > before || !held(r.a).valid(); });
    CHECK(held(r.a).valid());
    CHECK(r.has_copy(r.t.s->name));
    co_await unlocked(r.a);
    co_await r.check_next();
    co_await unlocked(r.b);
}
