#pragma once

#include <boost/system/error_code.hpp>

#include <string>

namespace paddock {

/// What OpenSSL says of a certificate that it does not accept: a number of X509_verify_cert_error.
boost::system::error_code certificate_error(long verify_result) noexcept;
/// There are ciphers without.
boost::system::error_code no_certificate() noexcept;

/// What OpenSSL's queue of this thread says, which is empty afterwards. `verify_result` is what it
/// says of the certificate, if that is the reason.
boost::system::error_code last_tls_error(long verify_result) noexcept;

/// What the log says of a server that was to have this name, or address.
std::string tls_fault(const boost::system::error_code& error, const std::string& name);

bool is_tls_error(const boost::system::error_code& error) noexcept;

/// One side does not like what the other one offers: certificates, versions, no TLS at all.
/// Somebody has to configure something.
bool is_lasting_tls_error(const boost::system::error_code& error) noexcept;

} // namespace paddock
