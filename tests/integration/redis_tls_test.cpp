// Locks on Redis servers that speak TLS, and what is refused.

#include "support/certificates.hpp"
#include "support/links.hpp"
#include "support/redis_faults_harness.hpp"

#include <paddock/any_client.hpp>
#include <paddock/tls.hpp>

#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

authority& trusted() { return test_authority(); }
redis_server& tls_server() {
    static redis_server one({}, {.identity = trusted().issue()});
    return one;
}
redis_server& strict_server() {
    static redis_server one({}, {.identity = trusted().issue(),
                                 .ca = trusted().ca_file(),
                                 .clients = client_certificates::required});
    return one;
}

tls_files files() { return {.ca = trusted().ca_file()}; }
tls_files files_with(const key_pair& own) {
    return {.ca = trusted().ca_file(), .certificate = own.certificate, .key = own.key};
}

std::string at(std::uint16_t port, const std::string& scheme = "rediss",
               const std::string& host = "localhost") {
    return scheme + "://" + host + ':' + std::to_string(port);
}

redis::client_options over(const tls& how) {
    auto options = new_servers();
    options.tls = how;
    return options;
}

/// A client that has just been made, and what became of its first connection.
struct attempt {
    attempt(asio::any_io_executor executor, const std::string& url, const tls& how)
        : client(executor, url, with_log(how)) {}

    redis::client_options with_log(const tls& how) {
        auto options = over(how);
        options.log = log.writer();
        return options;
    }
    asio::awaitable<void> refused(std::string why) {
        const auto call = start([&](auto token) { client.connect_for(10s, std::move(token)); });
        co_await finished(call);
        CHECK(call->error == errc::unsuitable_server);
        CHECK_MESSAGE(log.has(why), log.text());
    }

    log_lines log;
    redis::client client;
};

void change_certificate(redis_server& of, const key_pair& to) {
    redis_caller call(of.plain_port());
    CHECK(call({"CONFIG", "SET", "tls-cert-file", to.certificate, "tls-key-file", to.key}).text ==
          "OK");
}

} // namespace

CO_TEST("a lock over TLS passes from one client to another") {
    for (const auto* const host : {"localhost", "127.0.0.1"}) {
        redis::client first(executor, at(tls_server().port(), "rediss", host), over(tls(files())));
        redis::client second(executor, at(tls_server().port(), "rediss", host), over(tls(files())));
        redis::mutex mine(first, "tls"), theirs(second, "tls");
        const auto a = ask(mine);
        co_await granted(a);
        const auto b = ask(theirs);
        redis_caller call(tls_server().plain_port());
        co_await eventually([&] {
            const auto said = call({"PUBSUB", "NUMSUB", "paddock:free:tls"});
            return said.items.size() > 1 && said.items[1].number > 0;
        });
        CHECK_FALSE(b->done());
        co_await unlocked(a);
        co_await granted(b);
        co_await unlocked(b);
    }
}

CO_TEST("any_client connects with rediss://") {
    any_client_options options;
    options.tls = tls(files());
    options.trust_new_servers = true;
    any_client client(executor, at(tls_server().port(), "rediss"), options);
    const auto held = co_await client.mutex("any").lock();
    CHECK(held.valid());
}

CO_TEST("a list may have servers with and without TLS") {
    const auto list = at(tls_server().port()) + "/3," +
                      at(shared_redis_servers()[0].port(), "redis") + ',' +
                      at(strict_server().port(), "rediss");
    redis::client client(executor, list, over(tls(files_with(trusted().issue()))));
    redis::mutex lock(client, "mixed");
    const auto a = ask(lock);
    co_await granted(a);
    for (const auto port : {tls_server().plain_port(), shared_redis_servers()[0].port(),
                            strict_server().plain_port()}) {
        redis_caller call(port);
        call({"SELECT", "3"});
        co_await eventually([&] { return call({"EXISTS", "mixed"}).number == 1; });
    }
    co_await unlocked(a);
}

CO_TEST("options for TLS in a list without it are refused, and so is what nobody can use") {
    const auto refuses = [&](const std::string& url, const tls& how) {
        try {
            const redis::client client(executor, url, over(how));
        } catch (const bad_argument_error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refuses("redis://localhost", tls(files())) ==
          "client_options::tls has no use: no server has rediss://");
    CHECK(refuses("rediss://localhost", tls()) == "accepted"); // the system's authorities
    co_return;
}

CO_TEST("what is refused is refused at once, with its reason in the log") {
    if (torn_down(test)) co_return;
    const auto port = tls_server().port();
    {
        authority stranger("a stranger");
        attempt a(executor, at(port), tls({.ca = stranger.ca_file()}));
        co_await a.refused("TLS: its certificate is not accepted: unable to get local issuer");
    }
    {
        attempt a(executor, at(port), tls());
        co_await a.refused("no authority that is trusted here (tls_files::ca; without it");
    }
    {
        attempt a(executor, at(port), tls(files(), "redis.example"));
        co_await a.refused("TLS: its certificate is not accepted: hostname mismatch: "
                           "redis.example is not among its subject alternative names");
    }
    {
        redis_server late({}, {.identity = trusted().issue({.valid = validity::over})});
        attempt a(executor, at(late.port()), tls(files()));
        co_await a.refused("TLS: its certificate is not accepted: certificate has expired");
    }
    {
        redis_server old({}, {.identity = trusted().issue(), .protocols = {"TLSv1.1"}});
        attempt a(executor, at(old.port()), tls(files()));
        co_await a.refused("TLS: no version of TLS is allowed on both sides");
    }
}

CO_TEST("a server that wants a certificate of the client refuses none, and a foreign one") {
    if (torn_down(test)) co_return;
    authority stranger("a stranger");
    for (const auto& how : {tls(files()), tls(files_with(stranger.issue()))}) {
        attempt a(executor, at(strict_server().port()), how);
        const auto call = start([&](auto token) { a.client.connect_for(5s, std::move(token)); });
        // The connection's end can overtake the alert; one of the next attempts hears it.
        co_await eventually([&] {
            return a.log.has("TLS: it refuses the client's certificate, or that there is none") ||
                   a.log.has("it may want a certificate of the client, or another one");
        });
        co_await finished(call);
        CHECK((call->error == errc::unsuitable_server || call->error == errc::not_connected));
    }
}

CO_TEST("when the server's certificate is mended the client goes on, and says so") {
    if (torn_down(test)) co_return;
    authority stranger("a stranger");
    redis_server own({}, {.identity = stranger.issue()});
    attempt a(executor, at(own.port()), tls(files()));
    co_await a.refused("unable to get local issuer certificate");
    change_certificate(own, trusted().issue());
    co_await eventually([&] { return a.log.has(" answers after "); }, 20s);
    co_await a.client.connect_for(20s);
}

CO_TEST("a client certificate that the server trusts lets the client in") {
    redis::client client(executor, at(strict_server().port()),
                         over(tls(files_with(trusted().issue()))));
    co_await client.connect();
}

CO_TEST("TLS on one side only does not connect, and the log says what to look at") {
    if (torn_down(test)) co_return;
    attempt plain_server(executor, at(shared_redis_servers()[0].port()), tls(files()));
    attempt plain_client(executor, at(tls_server().port(), "redis"), tls());
    const auto a = start([&](auto t) { plain_server.client.connect_for(8s, std::move(t)); });
    const auto b = start([&](auto t) { plain_client.client.connect_for(8s, std::move(t)); });
    co_await eventually([&] { return plain_server.log.has("its port may take plain connections"); },
                        20s);
    co_await eventually([&] { return plain_client.log.has("its port expects TLS"); }, 20s);
    for (const auto& call : {a, b}) {
        co_await finished(call);
        CHECK(call->error == errc::not_connected);
    }
}

CO_TEST("a server that stops in the middle of the handshake is given up, and tried again") {
    if (torn_down(test)) co_return;
    link_room room;
    auto& link = room.add(tls_server().port());
    link.black_hole(true);
    attempt a(executor, at(link.port()), tls(files()));
    const auto call = start([&](auto token) { a.client.connect_for(1min, std::move(token)); });
    co_await eventually([&] { return a.log.has("has not answered TLS's handshake for 4000 ms"); },
                        20s);
    CHECK_FALSE(call->done());
    link.heal();
    co_await finished(call);
    CHECK_FALSE(call->error);
}

CO_TEST("an error of a server that may pass is no refusal") {
    if (torn_down(test)) co_return;
    using asio::ip::tcp;
    tcp::acceptor troubled(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::vector<std::shared_ptr<tcp::socket>> links;
    const std::string alert("\x15\x03\x03\x00\x02\x02\x50", 7); // internal_error
    std::function<void()> accept = [&] {
        troubled.async_accept([&](error_code error, tcp::socket link) {
            if (error) return;
            links.push_back(std::make_shared<tcp::socket>(std::move(link)));
            asio::write(*links.back(), asio::buffer(alert), error);
            accept();
        });
    };
    accept();
    attempt a(executor, at(troubled.local_endpoint().port()), tls(files()));
    const auto call = start([&](auto token) { a.client.connect(std::move(token)); });
    co_await eventually([&] { return a.log.has("TLS: alert internal error"); });
    const auto seen = links.size();
    co_await eventually([&] { return links.size() > seen + 1; }); // it tries again
    CHECK_FALSE(call->done());
}

CO_TEST("a server whose handshake comes in pieces of four bytes connects all the same") {
    if (torn_down(test)) co_return;
    link_room room;
    auto& link = room.add(tls_server().port());
    link.trickle(4, 0ms);
    redis::client client(executor, at(link.port()), over(tls(files())));
    co_await client.connect_for(1min);
}

CO_TEST("a hold survives connections that are cut, also over TLS") {
    if (torn_down(test)) co_return;
    link_room room;
    auto& link = room.add(tls_server().port());
    auto options = over(tls(files()));
    options.ttl = scaled(1500ms);
    redis::client client(executor, at(link.port()), options);
    redis::mutex lock(client, "cut");
    const auto a = ask(lock);
    co_await granted(a);
    for (const auto how : {cut::fin, cut::rst}) {
        const auto before = held(a).valid_until();
        link.cut_all(how);
        co_await eventually([&] { return held(a).valid_until() > before; });
        CHECK(held(a).valid());
    }
    co_await unlocked(a);
}

CO_TEST("certificates are renewed on both sides while clients hold locks") {
    if (torn_down(test)) co_return;
    constexpr std::size_t many = 100;
    authority next("the next authority");
    redis_server own({}, {.identity = trusted().issue()});
    link_room room;
    auto& link = room.add(own.port());
    const tls how(files());
    auto options = over(how);
    options.ttl = scaled(10s); // of which hundreds of handshakes on one thread take a part
    std::vector<std::unique_ptr<redis::client>> clients;
    std::vector<redis::mutex> locks;
    std::vector<lock_call> holds;
    for (std::size_t n = 0; n < many; ++n) {
        clients.push_back(std::make_unique<redis::client>(executor, at(link.port()), options));
        holds.push_back(ask(locks.emplace_back(*clients.back(), "l" + std::to_string(n))));
    }
    for (const auto& each : holds)
        co_await granted(each);
    change_certificate(own, next.issue());
    how.replace(make_tls_context({.ca = next.ca_file()}));
    link.cut_all(cut::rst);
    for (const auto& each : clients)
        co_await each->connect_for(20s);
    for (const auto& each : holds) {
        CHECK(held(each).valid());
        co_await unlocked(each);
    }
    change_certificate(own, trusted().issue());
}
