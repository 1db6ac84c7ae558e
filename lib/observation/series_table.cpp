#include "observation/series_table.hpp"

namespace paddock::detail {

std::shared_ptr<const counted_lock> series_table::add(std::string_view group, lock_kind kind,
                                                      std::string label) {
    const std::lock_guard lock(mutex_);
    return std::make_shared<const counted_lock>(counted_lock{find(group, kind), std::move(label)});
}

lock_series& series_table::find(std::string_view group, lock_kind kind) {
    if (const auto known = by_group_.find({group, kind}); known != by_group_.end())
        return *known->second;
    if (all_.size() >= most && group != others) return find(others, kind);
    auto& made = all_.emplace_back(group, kind);
    by_group_.emplace(key(made.group(), kind), &made);
    return made;
}

std::vector<lock_statistics> series_table::copy() const {
    const std::lock_guard lock(mutex_);
    std::vector<lock_statistics> out;
    out.reserve(all_.size());
    for (const auto& one : all_)
        out.push_back(one.copy());
    return out;
}

} // namespace paddock::detail
