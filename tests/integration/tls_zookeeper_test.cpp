// The test support for TLS, with ZooKeeper servers.

#include "support/foreigner.hpp"
#include "support/zk_ensemble.hpp"
#include "support/zk_server.hpp"
#include "tls_client.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace paddock::test;

namespace {

std::string ruok(const zk_server& server, tls_client& client) {
    return client.ask(server.port(), "ruok");
}

std::string ruok(const zk_server& server) {
    tls_client client;
    return ruok(server, client);
}

} // namespace

TEST_CASE("a ZooKeeper server speaks TLS, and foreigners ask it in plain") {
    zk_server server({.tls = tls_of_server{.identity = trusted().issue()}});
    CHECK(server.port() != server.plain_port());
    for (int n = 0; n < 2; ++n) {
        CHECK(ruok(server) == "imok");
        CHECK(server.ask("ruok") == "imok");
        CHECK(foreigner(server.plain_address()).exists("/"));
        server.kill();
        server.start();
    }
    CHECK(code_of([&] { foreigner(server.address()); }) == zk_code::connection_loss);
    tls_client client;
    client.speak_only(TLS1_3_VERSION);
    CHECK(ruok(server, client) != "imok");
}

TEST_CASE("a ZooKeeper server takes certificates of clients, or needs them") {
    zk_server_options options;
    options.tls = {trusted().issue(), trusted().ca_file(), client_certificates::optional};
    SUBCASE("of whoever has one") {}
    SUBCASE("of all; and Java reads the stores of an authority") {
        const auto key = trusted().key_store(options.tls->identity, "secret"),
                   trust = trusted().trust_store("secret");
        options.tls->clients = client_certificates::required;
        options.config = {"ssl.keyStore.type=PKCS12",         "ssl.keyStore.location=" + key,
                          "ssl.keyStore.password=secret",     "ssl.trustStore.type=PKCS12",
                          "ssl.trustStore.location=" + trust, "ssl.trustStore.password=secret"};
    }
    const bool needed = options.tls->clients == client_certificates::required;
    const zk_server server(options);
    tls_client nobody, known, unknown;
    authority others("others");
    known.present(trusted().issue({.common_name = "worker", .names = ""}));
    unknown.present(others.issue());
    CHECK(ruok(server, known) == "imok");
    CHECK((ruok(server, nobody) == "imok") == !needed);
    CHECK(ruok(server, unknown) != "imok");
}

TEST_CASE("a ZooKeeper server speaks the protocols that a test wants") {
    int version = TLS1_3_VERSION;
    std::vector<std::string> protocols{"TLSv1.2", "TLSv1.3"};
    SUBCASE("the newest") {}
    SUBCASE("an old one") {
        version = TLS1_1_VERSION;
        protocols = {"TLSv1.1"};
    }
    const zk_server server(
        {.tls = tls_of_server{.identity = trusted().issue(), .protocols = protocols}});
    for (const auto each : {TLS1_1_VERSION, TLS1_3_VERSION}) {
        tls_client client;
        client.speak_only(each);
        CHECK((ruok(server, client) == "imok") == (each == version));
    }
}

TEST_CASE("an ensemble speaks TLS to its clients") {
    zk_ensemble ensemble({.tls = tls_of_server{.identity = trusted().issue()}});
    for (std::size_t n = 0; n < zk_ensemble::size; ++n)
        CHECK(ruok(ensemble.server(n)) == "imok");
    CHECK(foreigner(ensemble.server(0).plain_address()).exists("/"));
}
