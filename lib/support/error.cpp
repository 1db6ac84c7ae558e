#include "support/argument.hpp"

#include <paddock/error.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace paddock {

namespace {

const char* text(errc code) noexcept {
    switch (code) {
    case errc::bad_argument:
        return "invalid argument, or an empty object";
    case errc::not_connected:
        return "the client is not connected (yet)";
    case errc::session_expired:
        return "the session expired";
    case errc::outcome_unknown:
        return "the connection was lost: the request may or may not have been executed";
    case errc::closed:
        return "the client is closed";
    case errc::lock_lost:
        return "the lock is not held any more";
    case errc::node_deleted:
        return "another client has deleted or replaced what held the lock";
    case errc::released:
        return "the lock was released";
    case errc::sequence_exhausted:
        return "the directory's sequence numbers are used up: drain it and delete it";
    case errc::over_budget:
        return "the client's budget allows no other node or watch";
    case errc::auth_failed:
        return "the servers refused the credentials, or those lack a right";
    case errc::revoked:
        return "another client asked for the lock back";
    case errc::would_deadlock:
        return "the operation would wait for a lock that its own caller holds";
    case errc::lease_lapsed:
        return "nothing has confirmed in time that the hold lasts: the servers, the network, or "
               "the program's event loop were too slow";
    case errc::hold_expired:
        return "the hold has reached its longest time";
    case errc::not_supported:
        return "the system that has the lock cannot do this";
    case errc::unsuitable_server:
        return "the Redis server, or so many of several that the others are no quorum, cannot be "
               "used for locks; the log says why";
    case errc::options_mismatch:
        return "the other clients of the Redis servers have another max_ttl or number of servers; "
               "the log has theirs";
    case errc::no_root:
        return "the root (client_options::root) does not exist, and create_root is not set; the "
               "log has its path";
    case errc::draining:
        return "the client is being drained: it grants no more locks";
    case errc::wrong_c_client:
        return "libzookeeper_mt has taken the place of libzookeeper_st in this process";
    }
    return nullptr;
}

const char* text(zk_errc code) noexcept {
    switch (code) {
    case zk_errc::system_error:
        return "system error";
    case zk_errc::runtime_inconsistency:
        return "runtime inconsistency";
    case zk_errc::data_inconsistency:
        return "data inconsistency";
    case zk_errc::connection_loss:
        return "connection loss";
    case zk_errc::marshalling_error:
        return "marshalling error";
    case zk_errc::unimplemented:
        return "unimplemented";
    case zk_errc::operation_timeout:
        return "operation timeout";
    case zk_errc::bad_arguments:
        return "bad arguments";
    case zk_errc::invalid_state:
        return "invalid state";
    case zk_errc::new_config_no_quorum:
        return "no quorum of the new configuration is connected and up to date";
    case zk_errc::reconfig_in_progress:
        return "another reconfiguration is in progress";
    case zk_errc::ssl_connection_error:
        return "error of the TLS connection";
    case zk_errc::api_error:
        return "API error";
    case zk_errc::no_node:
        return "no node";
    case zk_errc::no_auth:
        return "not authorized";
    case zk_errc::bad_version:
        return "version conflict";
    case zk_errc::no_children_for_ephemerals:
        return "an ephemeral node cannot have children";
    case zk_errc::node_exists:
        return "the node exists";
    case zk_errc::not_empty:
        return "the node has children";
    case zk_errc::session_expired:
        return "session expired";
    case zk_errc::invalid_callback:
        return "invalid callback";
    case zk_errc::invalid_acl:
        return "invalid access control list";
    case zk_errc::auth_failed:
        return "authentication failed";
    case zk_errc::closing:
        return "the connection is being closed";
    case zk_errc::nothing:
        return "no answer to process";
    case zk_errc::session_moved:
        return "the session has moved to another server";
    case zk_errc::not_read_only:
        return "the server is read-only";
    case zk_errc::ephemeral_on_local_session:
        return "a local session cannot have ephemeral nodes";
    case zk_errc::no_watcher:
        return "no such watch";
    case zk_errc::reconfig_disabled:
        return "reconfiguration is disabled";
    case zk_errc::session_closed_require_sasl_auth:
        return "the server requires an authentication that this client has not made, and closed "
               "the session";
    case zk_errc::quota_exceeded:
        return "the quota of a directory is exceeded";
    case zk_errc::throttled:
        return "the server throttles requests";
    }
    return nullptr;
}

const char* text(condition which) noexcept {
    switch (which) {
    case condition::lock_lost:
        return "the lock is lost";
    case condition::transient:
        return "the call can succeed later";
    case condition::outcome_unknown:
        return "the request may or may not have been executed";
    case condition::session_expired:
        return "the session expired";
    case condition::closed:
        return "the client is closed";
    case condition::auth_failed:
        return "the servers refused the credentials, or those lack a right";
    case condition::not_permitted:
        return "the credentials do not allow the request";
    case condition::bad_argument:
        return "invalid argument";
    case condition::cancelled:
        return "the operation was cancelled";
    }
    return nullptr;
}

/// The text of a number; one that no enumerator has is shown.
template <typename Code>
std::string text_or_number(int number, const char* unknown) {
    if (number == 0) return "success";
    const char* const known = text(static_cast<Code>(number));
    return known ? known : unknown + std::to_string(number);
}

/// The fixed ids make errors equal across two copies of the library in one process.
class paddock_category_type final : public boost::system::error_category {
public:
    constexpr paddock_category_type() noexcept : error_category(paddock_category_id) {}
    const char* name() const noexcept override { return "paddock"; }
    std::string message(int code) const override {
        return text_or_number<errc>(code, "unknown error ");
    }
};

class zookeeper_category_type final : public boost::system::error_category {
public:
    constexpr zookeeper_category_type() noexcept : error_category(0x9f2d'7a41'c36e'58b1) {}
    const char* name() const noexcept override { return "zookeeper"; }
    std::string message(int code) const override {
        return text_or_number<zk_errc>(code, "unknown ZooKeeper error ");
    }
};

bool is_one_of(const error_code& error, std::initializer_list<error_code> all) noexcept {
    return std::find(all.begin(), all.end(), error) != all.end();
}

bool meets(const error_code& error, condition which) noexcept {
    switch (which) {
    case condition::lock_lost:
        return is_one_of(error,
                         {errc::lock_lost, errc::node_deleted, errc::revoked, errc::lease_lapsed,
                          errc::hold_expired, errc::session_expired, zk_errc::session_expired});
    case condition::transient:
        return is_one_of(error, {errc::not_connected, errc::over_budget, zk_errc::throttled,
                                 zk_errc::session_moved});
    case condition::outcome_unknown:
        return is_one_of(
            error, {errc::outcome_unknown, zk_errc::connection_loss, zk_errc::operation_timeout});
    case condition::session_expired:
        return is_one_of(error, {errc::session_expired, zk_errc::session_expired});
    case condition::closed:
        return is_one_of(error, {errc::closed, errc::draining, zk_errc::closing}) ||
               meets(error, condition::auth_failed);
    case condition::auth_failed:
        return is_one_of(error, {errc::auth_failed, zk_errc::auth_failed,
                                 zk_errc::session_closed_require_sasl_auth});
    case condition::not_permitted:
        return error == zk_errc::no_auth;
    case condition::bad_argument:
        return is_one_of(error, {errc::bad_argument, zk_errc::bad_arguments, zk_errc::invalid_acl});
    case condition::cancelled:
        return error == asio::error::operation_aborted;
    }
    return false;
}

class condition_category_type final : public boost::system::error_category {
public:
    constexpr condition_category_type() noexcept : error_category(0x9f2d'7a41'c36e'58b2) {}
    const char* name() const noexcept override { return "paddock condition"; }
    std::string message(int which) const override {
        return text_or_number<condition>(which, "unknown condition ");
    }
    bool equivalent(const error_code& error, int which) const noexcept override {
        return meets(error, static_cast<condition>(which));
    }
};

constexpr paddock_category_type the_paddock_category;
constexpr condition_category_type the_condition_category;
constexpr zookeeper_category_type the_zookeeper_category;

} // namespace

const boost::system::error_category& paddock_category() noexcept { return the_paddock_category; }

const boost::system::error_category& condition_category() noexcept {
    return the_condition_category;
}

const boost::system::error_category& zookeeper_category() noexcept {
    return the_zookeeper_category;
}

} // namespace paddock
