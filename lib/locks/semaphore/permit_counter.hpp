#pragma once

#include "locks/semaphore/semaphore_lock.hpp"
#include "session/rearming_watch.hpp"

#include <paddock/detail/initiate.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The format of Curator's SharedCount: four bytes, the highest first.
std::string permit_text(std::int32_t permits);
std::optional<std::int32_t> read_permit_text(std::string_view data);

struct permits_answer {
    int code = 0; ///< zk_errc::data_inconsistency: the node has other data than a SharedCount's
    std::int32_t permits = 0;
    bool watched = false;
};
using permits_done = unique_function<void(const permits_answer&)>;

/// Reads the counter of a semaphore that has one. If the counter does not exist, the answer is its
/// initial value.
void look_at_permits(core& client, const semaphore_lock& of, permits_done done);

/// Reads the counter with a watch, and creates it if it does not exist.
void watch_permits(core& client, std::shared_ptr<const semaphore_lock> of,
                   std::shared_ptr<rearming_watch> watch, permits_done done);

/// Sets the counter unconditionally, and creates it if it does not exist.
void set_permits(std::shared_ptr<const semaphore_lock> of, std::int32_t permits,
                 handler<void(error_code)> h);

} // namespace paddock::detail
