#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::redis::rules {

/// What a server says about itself.
struct server_info {
    /// The sections of INFO to ask for, one by one: the sections of other things can be very large.
    static constexpr std::array<std::string_view, 5> sections{"server", "memory", "persistence",
                                                              "replication", "cluster"};

    int major_version = 0; ///< of Redis; zero: it does not say
    std::string version;
    std::string run_id; ///< a new one at each start
    std::string role;
    bool in_cluster = false;
    bool is_loading = false;           ///< it still reads its data from the disk
    std::uint64_t memory_limit = 0;    ///< zero: none
    std::string memory_policy;         ///< what it does at that limit
    std::chrono::microseconds clock{}; ///< since 1970; zero: it is too old to say

    friend bool operator==(const server_info&, const server_info&) = default;
};

/// `text` is what INFO says, or several of its sections, one after the other.
server_info read_info(std::string_view text);

/// Why the server must not be used for locks; empty if it may be.
std::string fault_of(const server_info& info);

} // namespace paddock::redis::rules
