#pragma once

#include "redis/locks/line_call.hpp"

#include <paddock/redis/mutex.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::redis::detail {

/// The description of a lock.
struct line_lock {
    std::shared_ptr<core> client;
    std::string name;
    hold_limit limit;
    std::shared_ptr<const counted_lock> counted; ///< of a family all have one
    std::shared_ptr<const metadata> about;       ///< see line_terms

    /// Any thread.
    void start(handler<void(error_code, guard)> h, line_call::kind how,
               std::optional<std::chrono::nanoseconds> time, std::optional<owner> by = {}) const;
};

/// Checks what a constructor received; `lock` is what its error texts call the object.
line_lock make_line_lock(std::string_view lock, const redis::client& servers, std::string_view name,
                         std::size_t longest, const mutex_options& options,
                         lock_kind kind = lock_kind::mutex);

/// How the keys begin that the library uses itself.
inline constexpr std::string_view reserved_prefix = "paddock:";

/// The limit of a label in bytes: it is in every request for the lock.
inline constexpr std::size_t longest_label = 256;

/// The limit of a lock's name in bytes. A trade: it is in every request, and in the log; Redis
/// takes keys of up to 512 MB.
inline constexpr std::size_t longest_name = 512;

} // namespace paddock::redis::detail
