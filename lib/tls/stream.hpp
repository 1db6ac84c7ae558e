#pragma once

#include "support/environment.hpp"
#include "support/stream.hpp"

#include <paddock/tls.hpp>

#include <memory>
#include <string>

namespace paddock {

/// A stream that carries its bytes through TLS over a connected one. Begins the handshake with the
/// server `host`; calls `secured` at its end, and may read and write from then on. There is no time
/// limit. Errors of TLS are those of tls/error.hpp.
std::unique_ptr<stream> make_tls_stream(environment& env, std::unique_ptr<stream> connected,
                                        const tls& how, const std::string& host,
                                        stream::done secured);

/// What the certificate of this server must have as a name.
const std::string& verified_name(const tls& how, const std::string& host) noexcept;

} // namespace paddock
