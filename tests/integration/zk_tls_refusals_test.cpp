// Servers of ZooKeeper that a client does not trust, or that do not trust it, or speak no TLS.

#include "support/links.hpp"
#include "support/ports.hpp"
#include "zk_tls_support.hpp"

#include <boost/asio/ip/tcp.hpp>

using namespace paddock;
using namespace paddock::test;
using asio::ip::tcp;

namespace {

/// A client that is never connected, and what it says.
struct unwanted {
    unwanted(asio::any_io_executor executor, const std::string& address, client_options options)
        : zk(std::move(executor), address, log.write_to(std::move(options))) {
        zk.connect([into = connected](error_code error) { *into = !error; });
    }
    asio::awaitable<void> says(log_code code, std::string text) {
        co_await eventually([&] { return log.has(code, text); }, 10s, __builtin_FILE(),
                            __builtin_LINE(),
                            [&] {
                                return text + (log.lines->empty() ? std::string(": no line")
                                                                  : ": " + log.lines->front().text);
                            });
        CHECK_FALSE(*connected);
        CHECK(zk.state() == client_state::connecting);
    }

    tls_log log;
    std::shared_ptr<bool> connected = std::make_shared<bool>(false); ///< outlives the client
    client zk;
};

zk_server& expired_server() {
    static zk_server one(
        {.tls = tls_of_server{.identity = issuer().issue({.valid = validity::over})}});
    return one;
}

} // namespace

CO_TEST("a server that is not the one in the list is not used, and the log says why") {
    constexpr auto code = log_code::unsuitable_server;
    const std::string refused = "its certificate is not accepted: ";
    static authority others("others");
    static zk_server self({.tls = tls_of_server{.identity = issuer().self_signed()}});
    const auto address = tls_server().address();
    unwanted name(executor, address, encrypted(trusting(issuer(), "elsewhere.example")));
    unwanted authority(executor, address, encrypted(trusting(others)));
    unwanted expired(executor, expired_server().address(), encrypted());
    unwanted by_itself(executor, self.address(), encrypted());
    co_await name.says(code, refused + "hostname mismatch: elsewhere.example is not among its");
    co_await authority.says(code, refused + "unable to get local issuer certificate");
    co_await expired.says(code, refused + "certificate has expired");
    co_await by_itself.says(code, refused + "self");
}

CO_TEST("a server whose certificate is revoked is not used, nor one that is out of date") {
    constexpr auto code = log_code::unsuitable_server;
    static const auto gone = issuer().issue();
    static zk_server revoked({.tls = tls_of_server{.identity = gone}});
    static zk_server old(
        {.tls = tls_of_server{.identity = issuer().issue(), .protocols = {"TLSv1.1"}}});
    const tls listed({.ca = issuer().ca_file(), .crl = issuer().revoke(gone)});
    unwanted by_list(executor, revoked.address(), encrypted(listed));
    unwanted by_version(executor, old.address(), encrypted());
    co_await by_list.says(code, "its certificate is not accepted: certificate revoked");
    co_await by_version.says(code, "no version of TLS is allowed on both sides");
}

CO_TEST("of several servers that are not used each has its own reason") {
    static zk_server other(
        {.tls = tls_of_server{.identity = issuer().issue({.names = "DNS:other"})}});
    const auto expired = expired_server().address(), elsewhere = other.address();
    const auto said_of = [](const std::string& server) {
        return "the server " + server + " cannot be used: TLS: its certificate is not accepted: ";
    };
    for (int n = 0; n < 2; ++n) { // in a random order
        unwanted zk(executor, expired + ',' + elsewhere, encrypted());
        co_await zk.says(log_code::unsuitable_server, said_of(expired) + "certificate has expired");
        co_await zk.says(log_code::unsuitable_server, said_of(elsewhere) + "IP address mismatch");
        co_await zk.says(log_code::unreachable, "no server of ");
        for (const auto& line : *zk.log.lines)
            CHECK_MESSAGE(line.text.find(said_of(expired) + "IP") == line.text.npos, line.text);
    }
}

CO_TEST("a server that needs a certificate refuses a client without one, and one of another") {
    constexpr auto code = log_code::unsuitable_server;
    const std::string refused = "it refuses the client's certificate, or that there is none";
    static zk_server strict({.tls = tls_of_server{.identity = issuer().issue(),
                                                  .ca = issuer().ca_file(),
                                                  .clients = client_certificates::required}});
    static zk_server newer({.tls = tls_of_server{.identity = issuer().issue(),
                                                 .ca = issuer().ca_file(),
                                                 .clients = client_certificates::required,
                                                 .protocols = {"TLSv1.3"}}});
    static authority others("others");
    const auto foreign = others.issue();
    for (const auto* const server : {&strict, &newer}) {
        unwanted nobody(executor, server->address(), encrypted());
        unwanted stranger(executor, server->address(), encrypted(presenting(foreign)));
        co_await nobody.says(code, refused);
        co_await stranger.says(code, refused);
        client known(executor, server->address(), encrypted(presenting(issuer().issue())));
        co_await known.connect();
    }
}

CO_TEST("a port for plain connections, and TLS where none is expected, are named in the log") {
    auto& server = tls_server();
    unwanted to_plain(executor, server.plain_address(), encrypted());
    unwanted from_plain(executor, server.address(), {});
    co_await to_plain.says(log_code::c_client, "in TLS's handshake: its port may take plain");
    co_await from_plain.says(log_code::c_client, "expects TLS");
}

CO_TEST("a server that is silent in the handshake does not keep a client from the others") {
    tcp::acceptor silent(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const auto mute = "127.0.0.1:" + std::to_string(silent.local_endpoint().port());
    for (int n = 0; n < 3; ++n) { // in a random order
        client zk(executor, mute + ',' + tls_server().address(), encrypted());
        co_await zk.connect();
    }
    unwanted alone(executor, mute, encrypted());
    co_await alone.says(log_code::c_client, "has not answered TLS's handshake");
    co_await alone.says(log_code::unreachable,
                        mute + " accepted the connection, but did not answer");
}

CO_TEST("no server over TLS is as no server") {
    const reserved_port unused;
    const auto nowhere = "127.0.0.1:" + std::to_string(unused.number());
    unwanted zk(executor, nowhere, encrypted());
    co_await zk.says(log_code::c_client, nowhere + " refuses connections: no server listens there");
    co_await zk.says(log_code::unreachable, "no server of " + nowhere);
}

CO_TEST("a context that takes another's place counts from the next connection on") {
    static authority others("others");
    link_room room;
    auto& link = room.add(tls_server().port());
    const auto how = trusting(issuer());
    const tls_log log;
    client zk(executor, link.address(), log.write_to(encrypted(how)));
    co_await zk.connect();
    how.replace(make_tls_context({.ca = others.ca_file()}));
    co_await zk.exists("/");
    link.cut_all(cut::fin);
    co_await eventually([&] { return log.has(log_code::unsuitable_server, "not accepted"); });
    CHECK(zk.state() == client_state::suspended);
    how.replace(make_tls_context({.ca = issuer().ca_file()}));
    co_await eventually([&] { return zk.state() == client_state::connected; });
}

CO_TEST("the log has a server's IPv6 address in brackets, as the list has") {
    const reserved_port unused;
    const auto address = "[::1]:" + std::to_string(unused.number());
    unwanted nobody(executor, address, encrypted());
    co_await nobody.says(log_code::c_client, address);
}
