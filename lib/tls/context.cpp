#include "support/argument.hpp"
#include "tls/state.hpp"

#include <paddock/tls.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

namespace {

namespace ssl = asio::ssl;
using boost::system::error_code;

void check(std::string_view member, const std::string& file, const error_code& error) {
    if (error)
        throw bad_argument("tls_files::" + std::string(member), file,
                           "cannot be used: " + error.message());
}

/// OpenSSL's own question for a passphrase would wait at a terminal.
std::string no_passphrase(std::size_t, ssl::context::password_purpose) { return {}; }

/// Asio has no function for it.
void load_revoked(ssl::context& into, const std::string& file) {
    X509_STORE* const store = SSL_CTX_get_cert_store(into.native_handle());
    X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    ERR_clear_error();
    if (lookup == nullptr || X509_load_crl_file(lookup, file.c_str(), X509_FILETYPE_PEM) < 1)
        check("crl", file, {static_cast<int>(ERR_get_error()), asio::error::get_ssl_category()});
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
}

std::shared_ptr<ssl::context> checked(std::shared_ptr<ssl::context> context) {
    if (!context) throw bad_argument("context", "is empty");
    return context;
}

std::string checked_name(std::string name) {
    if (name.find('\0') != name.npos) throw bad_argument("name", "has a null character");
    return name;
}

} // namespace

std::shared_ptr<ssl::context> make_tls_context(const tls_files& files) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    error_code error;
    SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
    made->set_verify_mode(ssl::verify_peer);
    if (files.ca.empty())
        made->set_default_verify_paths(error);
    else
        made->load_verify_file(files.ca, error);
    check("ca", files.ca, error);
    if (!files.crl.empty()) load_revoked(*made, files.crl);
    if (files.certificate.empty() && !files.key.empty())
        throw bad_argument("tls_files::key", "requires a certificate");
    if (files.certificate.empty()) return made;
    made->use_certificate_chain_file(files.certificate, error);
    check("certificate", files.certificate, error);
    made->set_password_callback(no_passphrase);
    const auto& key = files.key.empty() ? files.certificate : files.key;
    made->use_private_key_file(key, ssl::context::pem, error);
    check("key", key, error);
    return made;
}

tls::tls() noexcept = default;

tls::tls(std::shared_ptr<ssl::context> context, std::string name)
    : state_(std::make_shared<detail::tls_state>(checked(std::move(context)),
                                                 checked_name(std::move(name)))) {}

tls::tls(const tls_files& files, std::string name)
    : tls(make_tls_context(files), std::move(name)) {}

void tls::replace(std::shared_ptr<ssl::context> context) const {
    if (!state_) throw bad_argument("tls", "stands for plain connections");
    state_->replace(checked(std::move(context)));
}

} // namespace paddock
