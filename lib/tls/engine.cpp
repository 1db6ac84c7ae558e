#include "tls/engine.hpp"

#include "tls/error.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>

#include <array>
#include <new>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <utility>

namespace paddock {

namespace {

/// One record of TLS (RFC 8446, 5.1).
constexpr std::size_t record_size = 16 * 1024;

bool require_name(SSL* ssl, std::string name) {
    name.resize(std::min(name.find('%'), name.size())); // an IPv6 address has its zone behind it
    boost::system::error_code no_address;
    boost::asio::ip::make_address(name, no_address);
    if (name.starts_with('.')) return false; // for OpenSSL, any name that ends so
    if (!no_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    if (name.ends_with('.')) name.pop_back(); // no certificate has the root's dot
    SSL_set_hostflags(ssl,
                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return !name.empty() && SSL_set1_host(ssl, name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

bool has_certificate(SSL* ssl) {
    X509* const shown = SSL_get_peer_certificate(ssl);
    X509_free(shown);
    return shown != nullptr;
}

} // namespace

void tls_engine::release::operator()(ssl_st* it) const noexcept { SSL_free(it); }

tls_engine::tls_engine(std::shared_ptr<boost::asio::ssl::context> context, std::string name)
    : context_(std::move(context)), ssl_(SSL_new(context_->native_handle())) {
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (!ssl_ || in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        throw std::bad_alloc();
    }
    SSL_set_bio(ssl_.get(), in, out);
    SSL_set_connect_state(ssl_.get());
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr); // the context's callback stays
    SSL_set_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_options(ssl_.get(), SSL_OP_NO_RENEGOTIATION);
    if (!require_name(ssl_.get(), std::move(name)))
        error_ = certificate_error(X509_V_ERR_HOSTNAME_MISMATCH);
}

void tls_engine::feed(std::string_view bytes) {
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
}

std::string tls_engine::output() {
    BIO* const out = SSL_get_wbio(ssl_.get());
    std::string bytes(BIO_ctrl_pending(out), '\0');
    if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
}

tls_engine::outcome tls_engine::shake_hands() {
    if (error_) return outcome::failed; // a name that no certificate can have
    ERR_clear_error();
    const auto now = outcome_of(SSL_do_handshake(ssl_.get()));
    if (now != outcome::done || has_certificate(ssl_.get())) return now;
    error_ = no_certificate();
    return outcome::failed;
}

tls_engine::outcome tls_engine::read(std::string& to) {
    std::array<char, record_size> record;
    for (;;) {
        ERR_clear_error();
        const int size = SSL_read(ssl_.get(), record.data(), static_cast<int>(record.size()));
        if (size <= 0) return outcome_of(size);
        to.append(record.data(), static_cast<std::size_t>(size));
    }
}

tls_engine::outcome tls_engine::write(std::string_view bytes) {
    if (bytes.empty()) return outcome::done;
    ERR_clear_error();
    return outcome_of(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
}

void tls_engine::end() noexcept {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

tls_engine::outcome tls_engine::outcome_of(int returned) {
    if (returned > 0) return outcome::done;
    switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
        return outcome::wants_input;
    case SSL_ERROR_ZERO_RETURN:
        return outcome::ended;
    default:
        // Behind a failure OpenSSL fails without a reason.
        if (ERR_peek_error() != 0 || !error_)
            error_ = last_tls_error(SSL_get_verify_result(ssl_.get()));
        return outcome::failed;
    }
}

} // namespace paddock
