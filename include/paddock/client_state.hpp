#pragma once

#include <paddock/detail/cpp20.hpp>

namespace paddock {

/// The state of a client.
enum class client_state {
    connecting, ///< there is no session yet
    connected,  ///< the ensemble answers requests
    suspended,  ///< the connection is lost; the session, and every lock in it, may be alive
    expired,    ///< the session has expired, and the client is about to open a new one
    closed,     ///< the client is closed, for ever
};

} // namespace paddock
