#pragma once

#include "observation/lock_series.hpp"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::detail {

/// The statistics of a client's locks. A lock registers when it is made, and so its numbers exist
/// before it is used. The number of series is bounded: those that come later share one for each
/// kind. Any thread.
class series_table {
public:
    /// A trade: with so many a copy takes a megabyte.
    static constexpr std::size_t most = 1000;
    static constexpr std::string_view others = "(others)";

    std::shared_ptr<const counted_lock> add(std::string_view group, lock_kind kind,
                                            std::string label);
    std::vector<lock_statistics> copy() const;

private:
    using key = std::pair<std::string_view, lock_kind>; ///< the text is the series'

    lock_series& find(std::string_view group, lock_kind kind);

    mutable std::mutex mutex_; ///< of the members, not of the numbers in the series
    std::deque<lock_series> all_;
    std::map<key, lock_series*> by_group_;
};

} // namespace paddock::detail
