// The test support for TLS, against real servers: certificates, and servers that speak TLS.

#include "support/certificates.hpp"
#include "support/redis_server.hpp"
#include "support/time_scale.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

authority& trusted() {
    static authority one;
    return one;
}

/// A client that trusts an authority and expects a name; it says what it met.
struct tls_client {
    explicit tls_client(const std::string& ca = trusted().ca_file(), std::string name = "localhost")
        : name(std::move(name)) {
        context.set_verify_mode(ssl::verify_peer);
        context.load_verify_file(ca);
    }

    void present(const key_pair& own) {
        context.use_certificate_file(own.certificate, ssl::context::pem);
        context.use_private_key_file(own.key, ssl::context::pem);
    }
    void speak_only(int version) {
        SSL_CTX_set_min_proto_version(context.native_handle(), version);
        SSL_CTX_set_max_proto_version(context.native_handle(), version);
        SSL_CTX_set_cipher_list(context.native_handle(), "DEFAULT:@SECLEVEL=0");
    }
    void check_revocation(const std::string& list) {
        auto* const store = SSL_CTX_get_cert_store(context.native_handle());
        X509_LOOKUP* const files = X509_STORE_add_lookup(store, X509_LOOKUP_file());
        REQUIRE(X509_load_crl_file(files, list.c_str(), X509_FILETYPE_PEM) == 1);
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    }

    /// The first line of the answer, or what went wrong.
    std::string ask(std::uint16_t port, const std::string& request,
                    std::chrono::milliseconds limit = 10s) {
        asio::io_context io;
        ssl::stream<tcp::socket> stream(io, context);
        // Asio's verification would take the common name, too, and gives no reason.
        SSL_set_hostflags(stream.native_handle(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        SSL_set1_host(stream.native_handle(), name.c_str());
        SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
        std::string said = "silence", answer;
        const auto failed = [&](const error_code& error, const char* when) {
            if (!error) return false;
            const auto* verified =
                X509_verify_cert_error_string(SSL_get_verify_result(stream.native_handle()));
            said = std::string(when) + ": " + error.message() + "; " + verified;
            return true;
        };
        stream.lowest_layer().async_connect(
            {asio::ip::address_v4::loopback(), port}, [&](error_code error) {
                if (failed(error, "connect")) return;
                stream.async_handshake(ssl::stream_base::client, [&](error_code error) {
                    if (failed(error, "handshake")) return;
                    asio::async_write(stream, asio::buffer(request), [&](error_code error, auto) {
                        if (failed(error, "write")) return;
                        asio::async_read_until(stream, asio::dynamic_buffer(answer), '\n',
                                               [&](error_code error, auto) {
                                                   if (answer.empty() && failed(error, "read"))
                                                       return;
                                                   said = answer.substr(0, answer.find('\r'));
                                               });
                    });
                });
            });
        io.run_for(scaled(limit));
        return said;
    }

    ssl::context context{ssl::context::tls_client};
    std::string name;
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string ping(const redis_server& server, tls_client& client) {
    return client.ask(server.port(), "PING\r\n");
}

std::string ping(const redis_server& server) {
    tls_client client;
    return ping(server, client);
}

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
        ssl::context context(ssl::context::tls_client);
        context.set_password_callback([&](auto...) { return phrase; });
        error_code error;
        context.use_private_key_file(closed.key, ssl::context::pem, error);
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
