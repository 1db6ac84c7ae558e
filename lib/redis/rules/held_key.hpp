#pragma once

#include "redis/rules/scripts.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::redis::rules {

/// The value that script::kick puts in place of a hold's own one, for its time to live:
/// `pdk1:<time to live in ms>:kicked:<random>`. So the holder cannot renew the hold, and no other
/// client gets the lock before the hold has ended.
struct unkicked_value {
    std::string value; ///< the hold's own
    bool kicked;       ///< it was replaced
};
unkicked_value without_kick(std::string_view value);

/// A hold as the servers show it.
struct seen_hold {
    std::string value;              ///< of its key
    std::chrono::milliseconds left; ///< until fewer than a quorum have the key; max(): never
    int servers = 0;                ///< that have the key
    bool kicked = false;            ///< on one of them at least
};

/// What the servers, of which each has an entry, said to script::look; nothing where they did not
/// answer. The hold is the one that a quorum has, or could have, if those that are silent have it.
std::optional<seen_hold> hold_in(const std::vector<std::optional<answer>>& said);
/// Whether so many servers answered that hold_in() tells how it is.
bool is_known(const std::vector<std::optional<answer>>& said);

enum class kick_result {
    done,    ///< the hold can never again be confirmed by a quorum
    gone,    ///< it was not there any more
    unknown, ///< too few servers have answered
};
/// What came of script::kick.
kick_result kicked_by(const std::vector<std::optional<answer>>& said);

/// What lock_value() was given as the description; empty if there is none.
std::string_view description_in(std::string_view value) noexcept;

} // namespace paddock::redis::rules
