#pragma once

#include <paddock/detail/boost_version.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace boost::asio {}

namespace paddock {

namespace asio = boost::asio;
using boost::system::error_code;
using boost::system::system_error;

/// The errors of paddock itself. A cancelled operation always completes with
/// `asio::error::operation_aborted`; an error of the ensemble keeps its number, in `zk_errc`.
enum class errc : int {
    /// An argument is not acceptable, or the object is empty or was moved from. The client has sent
    /// nothing. A call that throws, throws a bad_argument_error, which names the argument and the
    /// reason. So does the message() of a code with which an operation completes, but it shows no
    /// values: such a code has a category of its own that equals paddock_category(). Compare codes
    /// and categories with `==`, not the addresses of categories. A std::error_code that is made of
    /// one keeps the message, and meets condition::bad_argument, but equals no other code, because
    /// std compares the addresses.
    bad_argument = 1,
    /// The client is not connected, and the operation does not wait for a connection, or its time
    /// limit has passed.
    not_connected,
    /// The session expired before the operation was complete. Its locks are lost.
    session_expired,
    /// The client lost the connection after it had sent the request: the ensemble may have executed
    /// the request, or not.
    outcome_unknown,
    /// The client is closed, its execution context has shut down, or this process is a fork of the
    /// process that owns the client.
    closed,
    /// The guard does not hold the lock any more: its session has expired, its lease has lapsed,
    /// its node is deleted, a client has revoked the lock, or the client was closed.
    lock_lost,
    /// Another client has deleted the node that held the lock; or a quorum of Redis servers has
    /// another client's key.
    node_deleted,
    /// `unlock` or the guard's destructor has released the lock.
    released,
    /// The sequence numbers below this directory are nearly used up: drain the queue and delete
    /// the directory.
    sequence_exhausted,
    /// A budget of the client (`client_options::budgets`) does not allow another node or watch.
    over_budget,
    /// The servers refused the credentials (`client_options::auth`, a URL), or those lack a right.
    auth_failed,
    /// A client revoked the lock, and the holder's options allow that
    /// (`mutex_options::revocable`).
    revoked,
    /// The operation would wait for itself: the upgrade of a shared hold to an exclusive one, or
    /// lock() of a recursive_mutex behind the node of its owner's lost hold (on Redis: lock_lost).
    would_deadlock,
    /// For too long, no answer has proved that the session is alive (the lease has lapsed), or no
    /// quorum of Redis servers has confirmed the lock's key. Another contender may hold the lock.
    lease_lapsed,
    /// This process has loaded libzookeeper_mt instead of libzookeeper_st, and paddock's calls
    /// reach that library.
    wrong_c_client,
    /// The hold has reached its longest time (`hold_limit::longest`).
    hold_expired,
    /// The system that has the lock cannot do this: `guard::transaction` of a lock on Redis.
    not_supported,
    /// The Redis server, or so many of several that the others are no quorum, is no master, belongs
    /// to a cluster, is too old, may evict keys, or has a counter that another program has spoilt.
    /// The client's log says which, and why.
    unsuitable_server,
    /// The other clients of the Redis servers have another `max_ttl`, or another number of servers.
    /// The client's log has the values.
    options_mismatch,
    /// The client's root (`client_options::root`, or the path behind the server list) does not
    /// exist, and `client_options::create_root` is not set. The client's log has its path.
    no_root,
    /// The client is being drained (`client::drain`): it grants no more locks.
    draining,
};

/// The error codes of ZooKeeper, all that its C client knows. The numbers are ZooKeeper's own
/// (`ZOO_ERRORS` in zookeeper.h); a code that this list does not contain keeps its number as well,
/// and its text shows it.
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
    new_config_no_quorum = -13,
    reconfig_in_progress = -14,
    ssl_connection_error = -15,
    api_error = -100,
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
    nothing = -117,
    session_moved = -118,
    not_read_only = -119,
    ephemeral_on_local_session = -120,
    no_watcher = -121,
    reconfig_disabled = -123,
    session_closed_require_sasl_auth = -124,
    quota_exceeded = -125,
    throttled = -127,
};

/// What several codes have in common: `if (error == paddock::condition::lock_lost)`. A code can
/// meet several conditions.
enum class condition : int {
    /// The caller does not hold the lock any more: `errc::lock_lost`, and the reasons of
    /// `guard::lost` that are a loss (`node_deleted`, `revoked`, `lease_lapsed`, `hold_expired`,
    /// `session_expired`).
    lock_lost = 1,
    /// The ensemble has executed nothing, and the same call can succeed later:
    /// `errc::not_connected`, `zk_errc::throttled`, `zk_errc::session_moved`, and
    /// `errc::over_budget` (also for nodes that are larger than the whole budget, which never fit).
    transient,
    /// The ensemble may have executed the request: `errc::outcome_unknown`,
    /// `zk_errc::connection_loss`, `zk_errc::operation_timeout`.
    outcome_unknown,
    /// The session has expired: `session_expired` of both kinds.
    session_expired,
    /// The client is of no use any more: `errc::closed`, `errc::draining`, `zk_errc::closing`, and
    /// the codes of
    /// `auth_failed`.
    closed,
    /// The servers refused the credentials, or those lack a right: `auth_failed` of both kinds,
    /// `zk_errc::session_closed_require_sasl_auth`.
    auth_failed,
    /// The credentials do not allow the request: `zk_errc::no_auth`.
    not_permitted,
    /// The arguments are not acceptable: `errc::bad_argument`, `zk_errc::bad_arguments`,
    /// `zk_errc::invalid_acl`.
    bad_argument,
    /// A cancellation ended the operation: `asio::error::operation_aborted`.
    cancelled,
};

class [[gnu::visibility("default")]] bad_argument_error;
class [[gnu::visibility("default")]] lock_lost_error;

/// What calls throw for an argument that is not acceptable: `errc::bad_argument`. what() is one
/// sentence, which names the argument and the reason, with control characters escaped.
class bad_argument_error : public system_error {
public:
    explicit bad_argument_error(const std::string& sentence);

    const char* what() const noexcept override { return sentence_.what(); }

private:
    std::runtime_error sentence_; // unlike a string, a copy of it never throws
};

/// What guard::run() and with() throw when the work has ended without a result after the loss of
/// the lock: `errc::lock_lost`, the reason, and the exception of the work, nested.
class lock_lost_error : public system_error {
public:
    explicit lock_lost_error(error_code reason);

    /// As guard::lost() returns it: `errc::hold_expired`, `errc::node_deleted`, …
    const error_code& reason() const noexcept { return reason_; }

private:
    error_code reason_;
};

/// The category of `errc`, named "paddock".
[[gnu::visibility("default")]] const boost::system::error_category& paddock_category() noexcept;

/// The category of `zk_errc`, named "zookeeper".
[[gnu::visibility("default")]] const boost::system::error_category& zookeeper_category() noexcept;

/// The category of `condition`, named "paddock condition".
[[gnu::visibility("default")]] const boost::system::error_category& condition_category() noexcept;

inline boost::system::error_condition make_error_condition(condition which) noexcept {
    return {static_cast<int>(which), condition_category()};
}

inline error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), paddock_category()};
}

inline error_code make_error_code(zk_errc code) noexcept {
    return {static_cast<int>(code), zookeeper_category()};
}

inline bad_argument_error::bad_argument_error(const std::string& sentence)
    : system_error(make_error_code(errc::bad_argument), sentence), sentence_(sentence) {}

inline lock_lost_error::lock_lost_error(error_code reason)
    : system_error(make_error_code(errc::lock_lost), reason.message()), reason_(reason) {}

} // namespace paddock

template <>
struct boost::system::is_error_code_enum<paddock::errc> : std::true_type {};

template <>
struct boost::system::is_error_code_enum<paddock::zk_errc> : std::true_type {};

template <>
struct boost::system::is_error_condition_enum<paddock::condition> : std::true_type {};
