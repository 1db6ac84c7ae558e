#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

namespace boost::asio {}

namespace paddock {

namespace asio = boost::asio;
using boost::system::error_code;
using boost::system::system_error;

/// What paddock itself has to say. Cancellation is always `asio::error::operation_aborted`; what
/// the ensemble says keeps its number, in `zk_errc`.
enum class errc : int {
    /// An argument is not acceptable; the exception's text names it and says why. Nothing was sent.
    bad_argument = 1,
    /// The client is not connected, and the operation is one that does not wait for a connection.
    not_connected,
    /// The session expired before the operation was done. What it held is gone.
    session_expired,
    /// The connection was lost after the request was sent: it may have been executed, or not.
    outcome_unknown,
    /// The client was closed, or its execution context was shut down.
    closed,
    /// The lock is no longer held: its session expired, or its node was deleted.
    lock_lost,
    /// The node holding the lock was deleted by somebody else.
    node_deleted,
    /// The hold was given back by `unlock`, or by the guard's destructor.
    released,
    /// The sequence numbers below this directory are nearly used up: drain it and delete it.
    sequence_exhausted,
    /// A budget of the client (`client_options::budgets`) does not allow another node or watch.
    over_budget,
    /// The ensemble refused the credentials of `client_options::auth`.
    auth_failed,
    /// No server name of the list could be resolved.
    host_not_found,
    /// Somebody asked the holder to give the lock back, and the holder had agreed to be asked.
    revoked,
    /// What was asked for would wait for itself: a shared hold that wants to become exclusive.
    would_deadlock,
    /// For too long nothing has shown that the session is alive: the lock may be somebody else's.
    lease_lapsed,
};

/// The ZooKeeper error codes that an operation can end with. The numbers are ZooKeeper's own
/// (`ZOO_ERRORS` in zookeeper.h); a code that is not listed here keeps its number as well.
enum class zk_errc : int {
    system_error = -1,
    runtime_inconsistency = -2,
    data_inconsistency = -3,
    connection_loss = -4,
    marshalling_error = -5,
    unimplemented = -6,
    operation_timeout = -7,
    bad_arguments = -8,
    invalid_state = -9,
    no_node = -101,
    no_auth = -102,
    bad_version = -103,
    no_children_for_ephemerals = -108,
    node_exists = -110,
    not_empty = -111,
    session_expired = -112,
    invalid_callback = -113,
    invalid_acl = -114,
    auth_failed = -115,
    closing = -116,
    session_moved = -118,
    not_read_only = -119,
    ephemeral_on_local_session = -120,
    no_watcher = -121,
    reconfig_disabled = -123,
    throttled = -127,
};

/// The category of `errc`, named "paddock".
const boost::system::error_category& paddock_category() noexcept;

/// The category of `zk_errc`, named "zookeeper".
const boost::system::error_category& zookeeper_category() noexcept;

inline error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), paddock_category()};
}

inline error_code make_error_code(zk_errc code) noexcept {
    return {static_cast<int>(code), zookeeper_category()};
}

} // namespace paddock

template <>
struct boost::system::is_error_code_enum<paddock::errc> : std::true_type {};

template <>
struct boost::system::is_error_code_enum<paddock::zk_errc> : std::true_type {};
