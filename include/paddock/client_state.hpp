#pragma once

#include <paddock/detail/cpp20.hpp>

#include <string_view>

namespace paddock {

/// The state of a client.
enum class client_state {
    connecting, ///< there is no session yet
    connected,  ///< the ensemble answers requests
    suspended,  ///< the connection is lost; the session, and every lock in it, may be alive
    expired,    ///< the session has expired, and the client is about to open a new one
    closed,     ///< the client is closed, for ever
};

/// The name of the state, as it stands above; `unknown` for any other number.
[[gnu::visibility("default")]] std::string_view name_of(client_state state) noexcept;

} // namespace paddock
