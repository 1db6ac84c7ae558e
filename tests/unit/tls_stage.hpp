#pragma once

#include "support/certificates.hpp"
#include "support/fake_environment.hpp"
#include "support/fake_network.hpp"
#include "tls/error.hpp"
#include "tls/stream.hpp"

#include <boost/asio/ssl/context.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::test {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// Whom the clients of these tests trust.
inline authority& trusted() {
    static authority one;
    return one;
}
inline const key_pair& of_localhost() {
    static const auto pair = trusted().issue();
    return pair;
}

/// A server's side of TLS, without a socket.
class tls_server {
public:
    explicit tls_server(const key_pair& own, int version = TLS1_3_VERSION) {
        SSL_CTX_set_min_proto_version(context_.native_handle(), version);
        SSL_CTX_set_max_proto_version(context_.native_handle(), version);
        context_.use_certificate_chain_file(own.certificate);
        context_.use_private_key_file(own.key, ssl::context::pem);
    }
    void wants_certificate_of(const std::string& ca) {
        context_.load_verify_file(ca);
        context_.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }

    /// Takes what the client has sent, and returns what the server answers.
    std::string answer(const std::string& bytes) {
        if (!ssl_) begin();
        BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        if (SSL_do_handshake(ssl_.get()) == 1) {
            std::array<char, 4096> part;
            for (int size; (size = SSL_read(ssl_.get(), part.data(), part.size())) > 0;)
                heard.append(part.data(), static_cast<std::size_t>(size));
        }
        return output();
    }
    std::string say(const std::string& text) {
        CHECK(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0);
        return output();
    }
    /// Its messages come in many records; those behind the handshake, with the client's certificate
    /// in them, in several each.
    void speaks_in_small_records() { SSL_CTX_set_max_send_fragment(context_.native_handle(), 512); }
    /// Takes anybody, and shows nothing.
    void needs_no_certificates() {
        SSL_CTX_set_cipher_list(context_.native_handle(), "aNULL:@SECLEVEL=0");
    }
    std::string end() {
        SSL_shutdown(ssl_.get());
        return output();
    }
    std::string change_keys() {
        CHECK(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
        return say("k");
    }
    std::string told_name() const {
        const auto* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
        return name != nullptr ? name : "";
    }
    bool was_told_the_end() const {
        return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    }

    std::string heard;

private:
    void begin() {
        ssl_.reset(SSL_new(context_.native_handle()));
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_accept_state(ssl_.get());
    }
    std::string output() {
        BIO* const out = SSL_get_wbio(ssl_.get());
        std::string bytes(BIO_ctrl_pending(out), '\0');
        if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
        return bytes;
    }

    struct release {
        void operator()(SSL* it) const { SSL_free(it); }
    };
    ssl::context context_{ssl::context::tls_server};
    std::unique_ptr<SSL, release> ssl_;
};

/// A client's stream, the server, and the network between them.
struct tls_stage {
    explicit tls_stage(tls_server& with) : server(with) {}

    void begin(const tls& how = tls({.ca = trusted().ca_file()}),
               const std::string& host = "localhost") {
        auto link = env.make_stream();
        link->connect("10.0.0.1", 1, [](error_code) {});
        subject = make_tls_stream(env, std::move(link), how, host, [this](error_code error) {
            CHECK_FALSE(secured);
            secured = error;
        });
        CHECK_FALSE(secured);
        env.run();
    }
    /// Carries bytes in both directions until none is left; `pieces` of so many bytes.
    void carry(std::size_t pieces = 100'000) {
        for (bool more = true; more;) {
            auto answer = server.answer(network.taken());
            more = !answer.empty();
            for (; !answer.empty(); answer.erase(0, pieces))
                tell(answer.substr(0, pieces));
            env.run();
        }
    }
    void tell(const std::string& bytes) {
        network.say(bytes);
        env.run();
    }
    void open() {
        begin();
        carry();
        REQUIRE(secured);
        REQUIRE_MESSAGE(!*secured, secured->message());
        read();
    }
    /// Reads until the end.
    void read() {
        subject->read_some([this](error_code error, std::string_view bytes) {
            heard += bytes;
            CHECK_FALSE(ended);
            if (error)
                ended = error;
            else if (reads)
                read();
        });
    }
    void write(std::string text) {
        CHECK_FALSE(writes);
        writes = !subject->write(std::move(text), [this](error_code error) {
            CHECK(writes);
            writes = false;
            if (error) write_failed = error;
        });
    }

    tls_server& server;
    fake_environment env;
    fake_network network{env};
    std::unique_ptr<stream> subject;
    std::optional<error_code> secured, ended, write_failed;
    std::string heard;
    bool writes = false, reads = true;
};

} // namespace paddock::test
