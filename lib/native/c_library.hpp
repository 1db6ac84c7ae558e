#pragma once

namespace paddock::native {

/// Throws `system_error` with `errc::wrong_c_client` when this library's calls of the C client go
/// to libzookeeper_mt: both C libraries export the same names, and the first one that the loader
/// finds gets all calls.
void require_single_threaded_c_client();

/// Whether the C client gets its sockets from us, so that a relay can encrypt their connections.
bool c_client_can_be_encrypted() noexcept;

} // namespace paddock::native
