#pragma once

#include "support/process_name.hpp"

#include <paddock/contender.hpp>
#include <paddock/znode.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The data of a contender's node, which identifies the contender: a JSON object in UTF-8 with the
/// members host, pid, label and time (ISO 8601, UTC). kazoo decodes it as text; Curator ignores it.
class metadata {
public:
    /// `sticky`: says so, because the node may stay although its lock is free.
    metadata(const process_name& of, std::string_view label, bool sticky = false);
    /// The data is exactly this text.
    static metadata verbatim(std::string text);
    /// `id`, an additional member, makes the data unique; `revoke_requested`, another one, is the
    /// time of the first request to release the lock. Verbatim data has no room for members.
    std::string at(std::chrono::system_clock::time_point now, std::string_view id = {},
                   std::chrono::system_clock::time_point revoke_requested = {}) const;

    friend bool operator==(const metadata&, const metadata&) = default;

private:
    metadata() = default;

    std::string start_; ///< the object up to the time
    bool verbatim_ = false;
};

/// Fills in the members that the data contains, if paddock wrote it; other data has no effect.
void read_metadata(std::string_view data, contender& out);
/// Fills in what a read of the contender's node shows.
void read_node(std::string_view data, const node_stat& stat, contender& out);

/// The time of a node_stat.
inline std::chrono::system_clock::time_point time_of(std::int64_t milliseconds_since_1970) {
    return std::chrono::system_clock::time_point(
        std::chrono::milliseconds(milliseconds_since_1970));
}

/// Whether it is the data of a sticky lock's node.
bool says_sticky(std::string_view data);

} // namespace paddock::detail
