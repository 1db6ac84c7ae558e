#pragma once

#include <boost/system/error_code.hpp>

#include <string>

namespace paddock {

/// What OpenSSL says of a certificate that it does not accept: a number of X509_verify_cert_error.
boost::system::error_code certificate_error(long verify_result) noexcept;

/// The first error in OpenSSL's queue of this thread.
boost::system::error_code last_tls_error() noexcept;

/// What the log says of a server that was to have this name, or address.
std::string tls_fault(const boost::system::error_code& error, const std::string& name);

/// The connection has ended for a reason that one side has found in what the other one offers:
/// certificates, versions, no TLS at all. Somebody has to configure something.
bool is_tls_error(const boost::system::error_code& error) noexcept;

} // namespace paddock
