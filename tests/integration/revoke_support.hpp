#pragma once

#include "support/lock_harness.hpp"

#include <string>

// Helpers for the tests of requests to release.

namespace paddock::test {

/// With all that JSON has to escape.
inline const std::string a_label = "the \"nightly\"\njob\t€";

inline under_way<> request_to(guard& g) {
    return start([&](auto token) { g.revoke_requested(std::move(token)); });
}

/// What revoke() or kick() of a target that is not of the lock completes with, and of one that has
/// left.
template <class Lock>
asio::awaitable<void> refuses_strangers(Lock& lock, contender other, contender gone) {
    const auto revoked = start([&](auto token) { lock.revoke(other, std::move(token)); });
    const auto kicked = start([&](auto token) { lock.kick(other, std::move(token)); });
    const auto late = start([&](auto token) { lock.revoke(gone, std::move(token)); });
    const auto late_too = start([&](auto token) { lock.kick(gone, std::move(token)); });
    for (const auto& one : {revoked, kicked, late, late_too})
        co_await finished(one);
    CHECK(revoked->error == errc::bad_argument);
    CHECK(kicked->error == errc::bad_argument);
    CHECK(late->error == zk_errc::no_node);
    CHECK(late_too->error == zk_errc::no_node);
}

inline contender at(const std::string& path) {
    contender one;
    one.path = path;
    return one;
}

/// A cancelled call completes at once; with a client that is closed it does not begin.
template <class Lock>
asio::awaitable<void> ends_early(Lock& lock, client& zk, fault_proxy& proxy, contender target) {
    proxy.black_hole(true);
    const auto stopped = start([&](auto token) { lock.revoke(target, std::move(token)); });
    const auto stopped_too = start([&](auto token) { lock.kick(target, std::move(token)); });
    stopped->cancel();
    stopped_too->cancel();
    co_await finished(stopped);
    co_await finished(stopped_too);
    CHECK(stopped->error == asio::error::operation_aborted);
    CHECK(stopped_too->error == asio::error::operation_aborted);
    proxy.black_hole(false);
    co_await zk.close();
    const auto late = start([&](auto token) { lock.revoke(target, std::move(token)); });
    co_await finished(late);
    CHECK(late->error == errc::closed);
}

} // namespace paddock::test
