#include "rules/batch_places.hpp"

#include <paddock/error.hpp>

namespace paddock::rules {

void batch_places::created(std::string_view directory) {
    if (!places_.contains(directory)) remember(directory, place::exists);
}

/// A missing node says only that the directory may be missing, too. Any other reason, such as an
/// access control list, is likely to last.
void batch_places::refused(std::string_view directory, int code) {
    const auto it = places_.find(directory);
    if (static_cast<zk_errc>(code) != zk_errc::no_node) {
        if (it != places_.end())
            it->second = place::unsuitable;
        else
            remember(directory, place::unsuitable);
    } else if (it != places_.end() && it->second == place::exists) {
        places_.erase(it);
    }
}

bool batch_places::suits_create(std::string_view directory) const {
    const auto it = places_.find(directory);
    return it != places_.end() && it->second == place::exists;
}

bool batch_places::suits_remove(std::string_view directory) const {
    const auto it = places_.find(directory);
    return it == places_.end() || it->second == place::exists;
}

void batch_places::remember(std::string_view directory, place what) {
    if (places_.size() >= limit) places_.clear();
    places_.emplace(directory, what);
}

} // namespace paddock::rules
