#pragma once

#include "support/certificates.hpp"
#include "support/time_scale.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

// A client of OpenSSL, for servers that speak TLS.

namespace paddock::test {

inline authority& trusted() {
    static authority one;
    return one;
}

/// A client that trusts an authority and expects a name; it says what it met.
struct tls_client {
    explicit tls_client(const std::string& ca = trusted().ca_file(), std::string name = "localhost")
        : name(std::move(name)) {
        context.set_verify_mode(boost::asio::ssl::verify_peer);
        context.load_verify_file(ca);
    }

    void present(const key_pair& own) {
        context.use_certificate_file(own.certificate, boost::asio::ssl::context::pem);
        context.use_private_key_file(own.key, boost::asio::ssl::context::pem);
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
                    std::chrono::milliseconds limit = std::chrono::seconds(10)) {
        using namespace boost::asio;
        io_context io;
        ssl::stream<ip::tcp::socket> stream(io, context);
        auto* const own = stream.native_handle();
        // Asio's verification would take the common name, too, and gives no reason.
        SSL_set_hostflags(own, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        SSL_set1_host(own, name.c_str());
        SSL_set_tlsext_host_name(own, name.c_str());
        std::string said = "silence", step = "connect", answer;
        const auto work = [&]() -> awaitable<void> {
            try {
                const ip::tcp::endpoint there(ip::address_v4::loopback(), port);
                co_await stream.lowest_layer().async_connect(there, use_awaitable);
                step = "handshake";
                co_await stream.async_handshake(ssl::stream_base::client, use_awaitable);
                step = "exchange";
                co_await async_write(stream, buffer(request), use_awaitable);
                co_await async_read_until(stream, dynamic_buffer(answer), '\n', use_awaitable);
            } catch (const boost::system::system_error& error) {
                said = step + ": " + error.code().message() + "; " +
                       X509_verify_cert_error_string(SSL_get_verify_result(own));
            }
            if (!answer.empty()) said = answer.substr(0, answer.find('\r'));
        };
        co_spawn(io, work, detached);
        io.run_for(scaled(limit));
        return said;
    }

    boost::asio::ssl::context context{boost::asio::ssl::context::tls_client};
    std::string name;
};

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace paddock::test
