#pragma once

#include <paddock/detail/cpp20.hpp>

#include <utility>

namespace paddock::detail {

/// Gives the library's own code the inside of a public object, or a public object around an inside.
struct access {
    template <typename Object, typename... Inside>
    static Object make(Inside&&... inside) {
        return Object(std::forward<Inside>(inside)...);
    }

    template <typename Client>
    static const auto& core_of(const Client& client) noexcept {
        return client.core_;
    }

    template <typename Tls>
    static const auto& state_of(const Tls& tls) noexcept {
        return tls.state_;
    }

    template <typename Watch>
    static const auto& latch_of(const Watch& watch) noexcept {
        return watch.latch_;
    }

    template <typename Guard>
    static const auto& hold_of(const Guard& guard) noexcept {
        return guard.hold_;
    }

    template <typename Guard>
    static auto start_lost_of() noexcept {
        return &Guard::start_lost;
    }

    template <typename Guard>
    static auto start_transaction_of() noexcept {
        return &Guard::start_transaction;
    }

    template <typename Mutex>
    static const auto& lock_of(const Mutex& mutex) noexcept {
        return mutex.impl_;
    }

    /// What begins the forms of a lock: see lockable.
    template <typename Lock>
    static constexpr auto start_lock = &Lock::start_lock;
    template <typename Lock>
    static constexpr auto start_try_lock = &Lock::start_try_lock;
    template <typename Lock>
    static constexpr auto start_try_lock_for = &Lock::start_try_lock_for;
    template <typename Lock>
    static constexpr auto start_lock_shared = &Lock::start_lock_shared;
    template <typename Lock>
    static constexpr auto start_try_lock_shared = &Lock::start_try_lock_shared;
    template <typename Lock>
    static constexpr auto start_try_lock_shared_for = &Lock::start_try_lock_shared_for;

    template <typename Commit>
    static auto& form_of(Commit& commit) noexcept {
        return commit.form_;
    }
};

} // namespace paddock::detail
