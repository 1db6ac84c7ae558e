#include "rules/outcome.hpp"

#include <paddock/error.hpp>

namespace paddock::rules {

namespace {

outcome without_right(request_kind what) noexcept {
    // The parent's access control list allows a delete; an administrator can correct it.
    return what == request_kind::remove ? outcome::rarely : outcome::refused;
}

outcome anything_else(request_kind what) noexcept {
    return what == request_kind::remove || what == request_kind::look ? outcome::later
                                                                      : outcome::refused;
}

} // namespace

outcome judge(request_kind what, int code) noexcept {
    if (code == 0) return outcome::done;
    switch (static_cast<zk_errc>(code)) {
    case zk_errc::no_node:
        return what == request_kind::remove ? outcome::done : outcome::missing;
    case zk_errc::no_auth:
        return without_right(what);
    case zk_errc::connection_loss:
    case zk_errc::operation_timeout:
    case zk_errc::runtime_inconsistency:
    case zk_errc::closing:
    case zk_errc::session_moved:
    case zk_errc::session_expired:
    case zk_errc::auth_failed:
        return outcome::lost;
    case zk_errc::invalid_state:
        return outcome::not_sent;
    case zk_errc::throttled:
    case zk_errc::not_read_only:
        return outcome::later;
    default:
        return anything_else(what);
    }
}

bool agreed(int code) noexcept {
    switch (static_cast<zk_errc>(code)) {
    case zk_errc::no_node:
    case zk_errc::no_auth:
    case zk_errc::bad_version:
    case zk_errc::no_children_for_ephemerals:
    case zk_errc::node_exists:
    case zk_errc::not_empty:
        return true;
    default:
        return code == 0;
    }
}

bool connection_lost(int code) noexcept {
    switch (static_cast<zk_errc>(code)) {
    case zk_errc::connection_loss:
    case zk_errc::operation_timeout:
    case zk_errc::runtime_inconsistency:
    case zk_errc::invalid_state:
        return true;
    default:
        return false;
    }
}

} // namespace paddock::rules
