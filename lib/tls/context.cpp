#include "support/argument.hpp"
#include "tls/state.hpp"

#include <paddock/tls.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

namespace {

namespace ssl = asio::ssl;
using boost::system::error_code;

/// OpenSSL 3 says of a file without a key that it has no decoder for it.
bool finds_nothing(unsigned long error) noexcept {
    const int from = ERR_GET_LIB(error), reason = ERR_GET_REASON(error);
#ifdef ERR_LIB_OSSL_DECODER
    if (from == ERR_LIB_OSSL_DECODER) return reason == ERR_R_UNSUPPORTED;
#endif
    return (from == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE) ||
           (from == ERR_LIB_X509 && reason == X509_R_NO_CERTIFICATE_OR_CRL_FOUND);
}

std::string fault_of(const error_code& error) {
    if (error.category() == asio::error::get_ssl_category()) {
        const auto value = static_cast<unsigned long>(error.value());
        if (finds_nothing(value)) return "has nothing of that kind in it, in PEM format";
        if (ERR_GET_LIB(value) == ERR_LIB_X509 &&
            ERR_GET_REASON(value) == X509_R_KEY_VALUES_MISMATCH)
            return "does not belong to the certificate";
    }
    return "cannot be used: " + error.message();
}

void check(std::string_view member, const std::string& file, const error_code& error) {
    if (error) throw bad_argument("tls_files::" + std::string(member), file, fault_of(error));
}

/// What stands first in OpenSSL's queue.
error_code openssl_error() {
    const auto first = ERR_get_error();
    if (ERR_SYSTEM_ERROR(first)) return {ERR_GET_REASON(first), boost::system::system_category()};
    return {static_cast<int>(first), asio::error::get_ssl_category()};
}

/// OpenSSL's own question for a passphrase would wait at a terminal.
void load_key(ssl::context& into, const std::string& file) {
    const auto asked = std::make_shared<bool>(false);
    into.set_password_callback([asked](std::size_t, ssl::context::password_purpose) {
        *asked = true;
        return std::string();
    });
    error_code error;
    into.use_private_key_file(file, ssl::context::pem, error);
    if (error && *asked)
        throw bad_argument("tls_files::key", file,
                           "has a passphrase: `openssl pkey -in FILE -out OTHER` takes it away");
    check("key", file, error);
}

/// Asio has no function for it.
void load_revoked(ssl::context& into, const std::string& file) {
    X509_STORE* const store = SSL_CTX_get_cert_store(into.native_handle());
    X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    ERR_clear_error();
    if (lookup == nullptr || X509_load_crl_file(lookup, file.c_str(), X509_FILETYPE_PEM) < 1)
        check("crl", file, openssl_error());
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
}

std::shared_ptr<ssl::context> checked(std::shared_ptr<ssl::context> context) {
    if (!context || context->native_handle() == nullptr) throw bad_argument("context", "is empty");
    return context;
}

const std::string& checked_name(const std::string& name) {
    if (name.find('\0') != name.npos) throw bad_argument("name", "has a null character");
    if (name.starts_with('.')) throw bad_argument("name", name, "begins with a dot");
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
    load_key(*made, files.key.empty() ? files.certificate : files.key);
    return made;
}

tls::tls() noexcept = default;

tls::tls(std::shared_ptr<ssl::context> context, std::string name)
    : state_(std::make_shared<detail::tls_state>(checked(std::move(context)), checked_name(name))) {
}

tls::tls(const tls_files& files, std::string name)
    : tls(make_tls_context(files), std::move(name)) {}

void tls::replace(std::shared_ptr<ssl::context> context) const {
    if (!state_) throw bad_argument("tls", "stands for plain connections");
    state_->replace(checked(std::move(context)));
}

} // namespace paddock
