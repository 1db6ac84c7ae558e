// Whose certificates a connection over TLS accepts, and what it says about those that it does not.

#include "unit/tls_stage.hpp"

#include <paddock/error.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace paddock;
using namespace paddock::test;

namespace {

std::string refusal(tls_server& server, const tls& how = tls({.ca = trusted().ca_file()}),
                    const std::string& host = "localhost") {
    tls_stage s(server);
    s.begin(how, host);
    s.carry();
    REQUIRE(s.secured);
    CHECK(is_tls_error(*s.secured));
    CHECK(server.heard.empty());
    return s.secured->message();
}
std::string refusal(const certificate_wishes& wishes, const std::string& host = "localhost") {
    tls_server server(trusted().issue(wishes));
    return refusal(server, tls({.ca = trusted().ca_file()}), host);
}
bool accepted(const certificate_wishes& wishes, const std::string& host, std::string name = {}) {
    tls_server server(trusted().issue(wishes));
    tls_stage s(server);
    s.begin(tls({.ca = trusted().ca_file()}, std::move(name)), host);
    s.carry();
    return s.secured && !*s.secured;
}

std::string complaint(const tls_files& files) {
    try {
        make_tls_context(files);
    } catch (const bad_argument_error& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a certificate is refused with the reason") {
    const auto has = [](const std::string& text, std::string_view part) {
        CAPTURE(text);
        CHECK(text.starts_with("its certificate is not accepted: "));
        CHECK(text.find(part) != text.npos);
    };
    has(refusal(certificate_wishes{.valid = validity::over}), "expired");
    has(refusal(certificate_wishes{.valid = validity::not_yet}), "not yet valid");
    has(refusal(certificate_wishes{}, "other.example"), "hostname mismatch");
    has(refusal(certificate_wishes{}, "10.0.0.1"), "IP address mismatch");
    has(refusal(certificate_wishes{.names = ""}), "hostname mismatch"); // the common name
    has(refusal(certificate_wishes{.for_servers = false}), "purpose");
    has(refusal(certificate_wishes{.names = "DNS:*.b.example"}, "c.a.b.example"), "mismatch");
    has(refusal(certificate_wishes{.names = "DNS:a*.b.example"}, "ab.b.example"), "mismatch");
    has(refusal(certificate_wishes{.names = "DNS:127.0.0.1"}, "127.0.0.1"), "mismatch");

    authority other("another");
    tls_server stranger(other.issue());
    has(refusal(stranger), "unable to get local issuer certificate");

    const auto gone = trusted().issue();
    const auto list = trusted().revoke(gone);
    tls_server revoked(gone);
    has(refusal(revoked, tls({.ca = trusted().ca_file(), .crl = list})), "revoked");
}

TEST_CASE("the name that is verified is the host's, or the one that the client was given") {
    CHECK(accepted({.names = "DNS:a.example"}, "a.example"));
    CHECK(accepted({.names = "DNS:a.example"}, "A.Example."));
    CHECK(accepted({.names = "DNS:*.b.example"}, "a.b.example"));
    CHECK(accepted({.names = "IP:127.0.0.1"}, "127.0.0.1"));
    CHECK(accepted({.names = "IP:::1"}, "::1"));
    CHECK(accepted({.names = "IP:::1"}, "::1%lo"));
    CHECK(accepted({.names = "DNS:a.example"}, "127.0.0.1", "a.example"));
    CHECK_FALSE(accepted({.names = "DNS:a.example"}, "a.example", "b.example"));
}

TEST_CASE("a server is told the name, and no address") {
    for (const auto* const host : {"localhost", "127.0.0.1"}) {
        tls_server server(of_localhost());
        tls_stage s(server);
        s.begin(tls({.ca = trusted().ca_file()}), host);
        s.carry();
        CHECK(server.told_name() == (std::string(host) == "localhost" ? host : ""));
    }
}

TEST_CASE("a server that wants a certificate gets ours, or says that it has none") {
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        tls_server strict(of_localhost(), version);
        strict.wants_certificate_of(trusted().ca_file());
        tls_stage s(strict);
        s.begin();
        s.carry();
        REQUIRE(s.secured);
        if (!*s.secured) { // TLS 1.3: the client is through before the server has looked
            s.read();
            s.env.run();
            REQUIRE(s.ended);
        }
        const auto why = s.ended.value_or(*s.secured);
        CHECK(is_tls_error(why));
        CAPTURE(why.message());
        CHECK(why.message().find("certificate") != std::string::npos);

        tls_server content(of_localhost(), version);
        content.wants_certificate_of(trusted().ca_file());
        const auto own = trusted().issue();
        tls_stage t(content);
        t.begin(tls({.ca = trusted().ca_file(), .certificate = own.certificate, .key = own.key}));
        t.carry();
        CHECK((t.secured && !*t.secured));
        t.write("here I am");
        t.env.run();
        t.carry();
        CHECK(content.heard == "here I am");
    }
}

TEST_CASE("whoever has an authority of the same name is refused for what it is") {
    authority impostor("the same name"), real("the same name");
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        tls_server server(impostor.issue(), version);
        const auto text = refusal(server, tls({.ca = real.ca_file()}));
        CAPTURE(text);
        CHECK(text.starts_with("its certificate is not accepted: "));
    }
}

TEST_CASE("a server without a certificate is refused, also by a context that allows it") {
    const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_cipher_list(context->native_handle(), "ALL:aNULL:@SECLEVEL=0");
    tls_server nobody(of_localhost(), TLS1_2_VERSION);
    nobody.needs_no_certificates();
    CHECK(refusal(nobody, tls(context)) == "peer did not return a certificate");
}

TEST_CASE("files that cannot be used are named, and none of them asks for a passphrase") {
    const auto own = trusted().issue();
    const auto other = trusted().issue();
    const auto starts = [](const tls_files& files, const std::string& with) {
        const auto text = complaint(files);
        CAPTURE(text);
        CHECK(text.starts_with(with));
    };
    const auto locked = trusted().encrypted(own, "secret");
    CHECK(complaint({.ca = trusted().ca_file(), .certificate = own.certificate, .key = own.key}) ==
          "");
    starts({.ca = "/nowhere/ca.pem"}, "tls_files::ca '/nowhere/ca.pem' cannot be used: ");
    starts({.ca = own.key}, "tls_files::ca '" + own.key + "' ");
    starts({.certificate = "/nowhere/c.pem"}, "tls_files::certificate ");
    starts({.certificate = own.key},
           "tls_files::certificate '" + own.key + "' has nothing of that");
    starts({.certificate = own.certificate}, "tls_files::key '" + own.certificate +
                                                 "' has nothing of that kind in it, in PEM format");
    starts({.certificate = own.certificate, .key = other.key},
           "tls_files::key '" + other.key + "' does not belong to the certificate");
    starts({.certificate = locked.certificate, .key = locked.key},
           "tls_files::key '" + locked.key + "' has a passphrase");
    starts({.key = own.key}, "tls_files::key requires a certificate");
    starts({.crl = own.certificate},
           "tls_files::crl '" + own.certificate + "' has nothing of that");
    starts({.crl = "/nowhere/l.pem"},
           "tls_files::crl '/nowhere/l.pem' cannot be used: No such file");
}

TEST_CASE("arguments that make no sense are refused") {
    CHECK_THROWS_AS(tls(std::shared_ptr<ssl::context>()), bad_argument_error);
    CHECK_THROWS_AS(tls(tls_files(), std::string("a\0b", 3)), bad_argument_error);
    CHECK_THROWS_AS(tls(tls_files(), ".example"), bad_argument_error);
    const auto moved = std::make_shared<ssl::context>(ssl::context::tls_client);
    const ssl::context taken(std::move(*moved));
    CHECK_THROWS_AS(tls{moved}, bad_argument_error);
    CHECK_THROWS_AS(tls().replace(make_tls_context({})), bad_argument_error);
    const tls some{tls_files()};
    CHECK_THROWS_AS(some.replace(nullptr), bad_argument_error);
    CHECK(some);
    CHECK_FALSE(tls());
}

TEST_CASE("a context that is replaced is that of the next connection, for all copies") {
    authority other("another");
    tls_server server(other.issue());
    const tls how({.ca = trusted().ca_file()});
    const tls copy = how;
    CHECK(refusal(server, how).find("issuer") != std::string::npos);
    copy.replace(make_tls_context({.ca = other.ca_file()}));
    tls_server again(other.issue());
    tls_stage s(again);
    s.begin(how);
    s.carry();
    CHECK((s.secured && !*s.secured));
}

TEST_CASE("a context that verifies nothing verifies all the same; its callback has the last word") {
    const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    context->set_verify_mode(ssl::verify_none);
    tls_server server(of_localhost());
    CHECK(refusal(server, tls(context)).starts_with("its certificate is not accepted"));
    const auto lenient = std::make_shared<ssl::context>(ssl::context::tls_client);
    int asked = 0;
    lenient->set_verify_callback([&](bool, ssl::verify_context&) { return ++asked > 0; });
    tls_server again(of_localhost());
    tls_stage s(again);
    s.begin(tls(lenient));
    s.carry();
    CHECK((s.secured && !*s.secured));
    CHECK(asked > 0);
}
