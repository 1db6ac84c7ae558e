#include "tls/error.hpp"

#include <boost/system/error_category.hpp>

#include <algorithm>
#include <array>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>

namespace paddock {

namespace {

/// Above the numbers of X509_verify_cert_error stand the reasons of OpenSSL's library SSL, and far
/// above those the errors of its other libraries, as they are.
constexpr int first_reason = 10'000;
constexpr int first_of_others = 1 << 23;

int value_of(unsigned long error) noexcept {
    return ERR_GET_LIB(error) == ERR_LIB_SSL ? first_reason + ERR_GET_REASON(error)
                                             : static_cast<int>(error);
}

template <std::size_t Size>
bool is_one_of(const std::array<int, Size>& all, int reason) noexcept {
    return std::find(all.begin(), all.end(), reason) != all.end();
}

/// An alert has come: what the other side says of our certificate, or of having none.
bool refuses_certificate(int reason) noexcept {
    constexpr std::array all{SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
                             SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
                             SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
                             SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,
                             SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
                             SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
                             SSL_R_TLSV1_ALERT_UNKNOWN_CA,
                             SSL_R_TLSV1_ALERT_ACCESS_DENIED};
    return is_one_of(all, reason);
}

bool is_other_version(int reason) noexcept {
    constexpr std::array all{SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION,
                             SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_VERSION_TOO_LOW};
    return is_one_of(all, reason);
}

bool is_no_tls(int reason) noexcept {
    constexpr std::array all{SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG,
                             SSL_R_HTTP_REQUEST, SSL_R_BAD_RECORD_TYPE};
    return is_one_of(all, reason);
}

class tls_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "paddock.tls"; }

    std::string message(int value) const override {
        if (value < first_reason)
            return std::string("its certificate is not accepted: ") +
                   X509_verify_cert_error_string(value);
        const int reason = value - first_reason;
        const auto error = value < first_of_others
                               ? ERR_PACK(ERR_LIB_SSL, 0, static_cast<unsigned long>(reason))
                               : static_cast<unsigned long>(value);
        const char* const text = ERR_reason_error_string(error);
        std::string said = text != nullptr ? text : "error " + std::to_string(value);
        // OpenSSL's names of alerts have the version that has brought them in.
        if (const auto alert = said.find("alert "); alert != said.npos) said.erase(0, alert);
        if (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE)
            return "it refuses the handshake, as for a missing client certificate or for want of a "
                   "cipher in common (" +
                   said + ')';
        if (refuses_certificate(reason))
            return "it refuses the client's certificate, or that there is none (" + said + ')';
        if (is_other_version(reason))
            return "no version of TLS is allowed on both sides (" + said + ')';
        if (is_no_tls(reason))
            return "what it says is not TLS: its port takes plain connections (" + said + ')';
        return said;
    }
};

const tls_category& category() noexcept {
    static const tls_category only;
    return only;
}

} // namespace

boost::system::error_code certificate_error(long verify_result) noexcept {
    return {static_cast<int>(verify_result), category()};
}

boost::system::error_code no_certificate() noexcept {
    return {first_reason + SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, category()};
}

std::string tls_fault(const boost::system::error_code& error, const std::string& name) {
    const auto said = error.message();
    switch (error.value()) { // those of OpenSSL's reasons are larger
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return said + ": " + name + " is not among its subject alternative names";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        return said + ": no authority that is trusted here (tls_files::ca; without it, those of "
                      "the system) has signed it";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
        return said + ": tls_files::crl has no list of the authority that has signed it";
    default:
        return said;
    }
}

/// Behind an error of another library stands what OpenSSL makes of it.
boost::system::error_code last_tls_error(long verify_result) noexcept {
    int found = 0;
    while (const auto error = ERR_get_error()) {
        if (value_of(error) == first_reason + SSL_R_CERTIFICATE_VERIFY_FAILED) {
            ERR_clear_error();
            return certificate_error(verify_result);
        }
        const bool first_of_ssl = ERR_GET_LIB(error) == ERR_LIB_SSL && found >= first_of_others;
        if (found == 0 || first_of_ssl) found = value_of(error);
    }
    return {found != 0 ? found : first_reason, category()};
}

bool is_tls_error(const boost::system::error_code& error) noexcept {
    return error.category() == category();
}

bool is_lasting_tls_error(const boost::system::error_code& error) noexcept {
    const int reason = error.value() - first_reason;
    return is_tls_error(error) &&
           (reason < 0 || refuses_certificate(reason) || is_other_version(reason) ||
            is_no_tls(reason) || reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
            reason == SSL_R_TLSV1_UNRECOGNIZED_NAME || reason == SSL_R_NO_CIPHERS_AVAILABLE ||
            reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE);
}

} // namespace paddock
