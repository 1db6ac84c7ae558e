#pragma once

#include "client/call_kind.hpp"

#include <paddock/detail/initiate.hpp>
#include <paddock/guard.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace paddock::detail {

/// The inside of an any_mutex. Any thread.
class any_lock {
public:
    using kind = call_kind;

    virtual ~any_lock() = default;
    virtual asio::any_io_executor executor() const noexcept = 0;
    /// Starts a call of lock() or a similar operation.
    virtual void start(handler<void(error_code, guard)> h, kind how,
                       std::optional<std::chrono::nanoseconds> limit) const = 0;
};

/// The inside of an any_lock_family. Any thread.
class any_family {
public:
    using kind = any_lock::kind;

    virtual ~any_family() = default;
    virtual asio::any_io_executor executor() const noexcept = 0;
    /// Starts a call for the lock of a key, which may be unacceptable.
    virtual void start(handler<void(error_code, guard)> h, std::string key, kind how,
                       std::optional<std::chrono::nanoseconds> limit) const = 0;
};

} // namespace paddock::detail
