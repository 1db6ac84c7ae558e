// The test support for TLS, with Redis servers: certificates, and handshakes that break.

#include "support/links.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"
#include "tls_client.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

std::string ping(const redis_server& server, tls_client& client) {
    return client.ask(server.port(), "PING\r\n");
}

std::string ping(const redis_server& server) {
    tls_client client;
    return ping(server, client);
}

/// A client behind a link to a server.
struct behind_link {
    redis_server server{{}, {.identity = trusted().issue()}};
    link_room room;
    tcp_link& link = room.add(server.port());
    tls_client client;

    std::string ask(std::chrono::milliseconds limit = 10s) {
        return client.ask(link.port(), "PING\r\n", limit);
    }
};

} // namespace

TEST_CASE("a Redis server speaks TLS, and is asked by the test in plain") {
    redis_server server({}, {.identity = trusted().issue()});
    CHECK(server.port() != server.plain_port());
    CHECK(ping(server) == "+PONG");
    server.kill();
    server.start();
    CHECK(ping(server) == "+PONG");
}

TEST_CASE("a certificate is refused for the reason that a test wants") {
    tls_client client;
    authority impostor;
    key_pair identity;
    std::string reason;
    SUBCASE("over") {
        identity = trusted().issue({.valid = validity::over});
        reason = "certificate has expired";
    }
    SUBCASE("not yet valid") {
        identity = trusted().issue({.valid = validity::not_yet});
        reason = "certificate is not yet valid";
    }
    SUBCASE("of a client") {
        identity = trusted().issue({.for_servers = false});
        reason = "unsuitable certificate purpose";
    }
    SUBCASE("signed by itself") {
        identity = trusted().self_signed();
        reason = "self-signed certificate";
    }
    SUBCASE("of another authority with the same name") {
        identity = impostor.issue();
        reason = "unable to get local issuer certificate";
    }
    SUBCASE("revoked") {
        identity = trusted().issue();
        client.check_revocation(trusted().revoke(identity));
        reason = "certificate revoked";
    }
    SUBCASE("of another name") {
        identity = trusted().issue({.names = "DNS:elsewhere.example,DNS:*.localhost"});
        reason = "hostname mismatch";
    }
    SUBCASE("without an alternative name") {
        identity = trusted().issue({.names = ""});
        reason = "hostname mismatch";
    }
    const redis_server server({}, {.identity = identity});
    const auto said = ping(server, client);
    CHECK_MESSAGE(contains(said, reason), said);
}

TEST_CASE("a certificate is taken that is not revoked, or is for the name that is wanted") {
    const auto other = trusted().issue();
    trusted().revoke(other);
    const redis_server server({}, {.identity = trusted().issue({.names = "DNS:a.example"})});
    tls_client client(trusted().ca_file(), "a.example");
    client.check_revocation(trusted().revocations());
    CHECK(ping(server, client) == "+PONG");
}

TEST_CASE("a Redis server wants no certificate of its clients, takes one, or needs one") {
    tls_client client;
    authority others("others");
    std::vector<client_certificates> take;
    SUBCASE("none is there") { take = {client_certificates::none, client_certificates::optional}; }
    SUBCASE("a good one") {
        client.present(trusted().issue({.common_name = "worker", .names = ""}));
        take = {client_certificates::none, client_certificates::optional,
                client_certificates::required};
    }
    SUBCASE("of another authority") {
        client.present(others.issue());
        take = {client_certificates::none};
    }
    SUBCASE("over") {
        client.present(trusted().issue({.valid = validity::over}));
        take = {client_certificates::none};
    }
    SUBCASE("of a server") {
        client.present(trusted().issue({.for_clients = false}));
        take = {client_certificates::none};
    }
    for (const auto wanted : {client_certificates::none, client_certificates::optional,
                              client_certificates::required}) {
        const redis_server server({}, {trusted().issue(), trusted().ca_file(), wanted});
        const bool taken = std::find(take.begin(), take.end(), wanted) != take.end();
        const auto said = ping(server, client);
        CHECK_MESSAGE((said == "+PONG") == taken, said);
    }
}

TEST_CASE("a Redis server speaks the protocols that a test wants, also TLS 1.1") {
    const redis_server old({}, {.identity = trusted().issue(), .protocols = {"TLSv1.1"}});
    const redis_server later({},
                             {.identity = trusted().issue(), .protocols = {"TLSv1.2", "TLSv1.3"}});
    for (const auto version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
        tls_client client;
        client.speak_only(version);
        CHECK((ping(old, client) == "+PONG") == (version == TLS1_1_VERSION));
        CHECK((ping(later, client) == "+PONG") == (version != TLS1_1_VERSION));
    }
}

TEST_CASE("an encrypted key opens with its passphrase, and only so") {
    const auto closed = trusted().encrypted(trusted().issue(), "open sesame");
    for (const std::string phrase : {"open sesame", "please"}) {
        boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
        context.set_password_callback([&](auto...) { return phrase; });
        boost::system::error_code error;
        context.use_private_key_file(closed.key, boost::asio::ssl::context::pem, error);
        CHECK(!error == (phrase == "open sesame"));
    }
}

TEST_CASE("an authority leaves no file behind, and says why openssl fails") {
    std::string file;
    {
        authority brief;
        file = brief.issue().key;
        CHECK(std::filesystem::exists(file));
        CHECK_THROWS_WITH_AS(brief.issue({.names = "nonsense"}), doctest::Contains("nonsense"),
                             std::runtime_error);
    }
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE_FIXTURE(behind_link, "a link breaks a handshake anywhere") {
    struct place {
        direction way;
        std::size_t bytes;
        cut how;
    };
    for (const auto& at : {place{direction::up, 50, cut::fin},   // in the client's first message
                           place{direction::down, 0, cut::fin},  // behind it
                           place{direction::down, 50, cut::rst}, // in the server's first message
                           place{direction::down, 400, cut::fin}}) { // in its certificate
        link.cut_after(at.way, at.bytes, at.how);
        const auto said = ask();
        CHECK_MESSAGE(contains(said, "handshake: "), said);
        link.heal();
        CHECK(ask() == "+PONG");
    }
}

TEST_CASE_FIXTURE(behind_link, "a link keeps silent in a handshake, or says a byte at a time") {
    link.black_hole(true);
    CHECK(ask(300ms) == "silence");
    link.heal();
    link.trickle(1, 1s);
    CHECK(ask(1500ms) == "silence");
    link.trickle(1);
    CHECK(ask() == "+PONG");
}

TEST_CASE_FIXTURE(behind_link,
                  "a server that does not speak TLS is reached by no client that does") {
    link.lead_to(server.plain_port());
    CHECK(ask(300ms) != "+PONG"); // Redis waits for the end of the line, if there is none by chance
}

TEST_CASE("a proxy passes on, holds, and cuts what it does not read") {
    const redis_server server({}, {.identity = trusted().issue()});
    fault_proxy proxy(server.port(), framing::none);
    tls_client client;
    const auto outcome = [&](std::chrono::milliseconds limit = 10s) {
        return client.ask(proxy.port(), "PING\r\n", limit);
    };
    CHECK(outcome() == "+PONG");
    CHECK(proxy.count(direction::up) > 1);
    CHECK(proxy.count(direction::down) > 1);
    proxy.hold(direction::down);
    CHECK(outcome(300ms) == "silence");
    proxy.release(direction::down);
    proxy.black_hole(true);
    CHECK(outcome(300ms) == "silence");
    proxy.cut_all(cut::rst);
    proxy.black_hole(false);
    proxy.cut_at(direction::down, 0, 20);
    CHECK(contains(outcome(), "handshake: "));
    proxy.refuse(true);
    CHECK(contains(outcome(), "connect: "));
    proxy.refuse(false);
    CHECK(outcome() == "+PONG");
}
