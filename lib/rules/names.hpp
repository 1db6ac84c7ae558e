#pragma once

#include "rules/claims.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::rules {

/// A contender's place in the order of its line: by sequence number, ties by name.
struct place {
    std::int32_t sequence = 0;
    std::string name; ///< of the node, without its directory

    friend auto operator<=>(const place&, const place&) = default;
};

/// The names that recipes at the same path may use, and that a lock's own name must not contain.
bool reserved(std::string_view lock_name) noexcept;

/// Everything about the names of one lock's nodes. Ours are `_c_<id>-<name>-<sequence>`: with the
/// name `lock`, those of Curator's InterProcessMutex.
class naming {
public:
    explicit naming(std::string lock_name);

    /// The name to create a node with; the ensemble appends the sequence number.
    std::string prefix(const claims& ids, node_id id) const;

    /// The node's sequence number, if it is a contender for this lock. For the name `lock` these
    /// are: `_c_<id>-lock-<sequence>` with an id of 36 (Curator, paddock) or 32 characters (Go),
    /// `lock-<sequence>`, and kazoo's `<32 hex digits>__lock__<sequence>`. The sequence is what the
    /// server printed with %010d, and nothing else.
    std::optional<std::int32_t> sequence(std::string_view child) const noexcept;

private:
    std::string marker_;
    bool kazoo_ = false;
};

/// The number in a node's name, if the node belongs to the present session and has a protected name
/// (of any lock).
std::optional<node_id> own_id(std::string_view child, const claims& ids) noexcept;

/// Of the children of a directory, those of the present session that nobody claims.
std::vector<std::string> orphans(const std::vector<std::string>& children, const claims& ids);

/// A sequence number from here on earns a warning: half of them are used up.
inline constexpr std::int32_t sequence_warning = 1 << 30;
/// A node with a sequence number from here on, or a negative one, is taken back: past 2^31 the
/// order of the line breaks (ZOOKEEPER-3249; kazoo issue 606).
inline constexpr std::int32_t sequence_limit = 0x7fff'ffff - 100'000;

} // namespace paddock::rules
