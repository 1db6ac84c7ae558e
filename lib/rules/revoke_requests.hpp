#pragma once

#include "rules/names.hpp"

#include <paddock/znode.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace paddock::rules {

/// A request to release a lock, as it was read in the node of a contender: it has overwritten the
/// node's data.
struct revoke_request {
    std::int32_t version; ///< of the data
    std::int64_t time;    ///< when the ensemble executed it, in milliseconds since 1970
    std::int64_t mzxid;   ///< the transaction, which no other request has
};

/// The request that a read of a node shows.
inline std::optional<revoke_request> revoke_request_in(std::string_view data,
                                                       const node_stat* stat) {
    if (data != revoke_message || !stat) return std::nullopt;
    return revoke_request{stat->version, stat->mtime, stat->mzxid};
}

/// The requests to release that one node has shown. Each of them overwrites the node's data, which
/// is then to be written again, once for each: with the version of the request, so that neither a
/// later request nor another change is overwritten. The read that follows the write does not show a
/// request, so it is not taken for one.
class revoke_requests {
public:
    /// Returns whether it was not seen before.
    bool saw(const revoke_request& one) noexcept {
        if (first_ == 0) first_ = one.time;
        return std::exchange(last_, one.mzxid) != one.mzxid;
    }
    bool any() const noexcept { return first_ != 0; }
    /// When the first one came, in milliseconds since 1970; 0: none.
    std::int64_t first() const noexcept { return first_; }

private:
    std::int64_t first_ = 0;
    std::int64_t last_ = 0; ///< the transaction of the latest one
};

} // namespace paddock::rules
