#pragma once

#include "rules/claims.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// How a contender wants the lock: alone, or beside others who share it.
enum class role : std::uint8_t { exclusive, shared };

/// Whose names a contender's node has.
enum class style : std::uint8_t { curator, kazoo };

/// What a node's name says.
struct reading {
    std::int32_t sequence = 0;
    role as = role::exclusive;
};

/// Everything about the names of one lock's nodes. Ours are `_c_<id>-<marker><sequence>`, as
/// Curator's recipes have them, or `<id>__lock__<sequence>`, as kazoo's Lock has them.
class naming {
public:
    /// A mutex; with the name `lock`, Curator's InterProcessMutex and kazoo's Lock.
    explicit naming(const std::string& lock_name);
    /// Curator's InterProcessReadWriteLock.
    static naming of_shared_mutex() { return naming("__WRIT__", "__READ__"); }
    /// Curator's LeaderLatch.
    static naming of_election() { return naming("latch-", {}); }
    /// The leases of Curator's InterProcessSemaphoreV2.
    static naming of_leases() { return naming("lease-", {}); }

    /// The name to create a node with; the ensemble appends the sequence number.
    std::string prefix(const claims& ids, node_id id, role as = role::exclusive,
                       style whose = style::curator) const;

    /// What the node's name says, if it is a contender for this lock. For the mutex name `lock`
    /// these are: `_c_<id>-lock-<sequence>` with an id of 36 (Curator, paddock) or 32 characters
    /// (Go), `lock-<sequence>`, kazoo's `<32 hex digits>__lock__<sequence>`, and
    /// what its Lock makes when it is told to use Curator's marker. The sequence is
    /// what the server printed with %010d, and nothing else.
    std::optional<reading> read(std::string_view child) const noexcept;
    std::optional<std::int32_t> sequence(std::string_view child) const noexcept;

    /// Whether there are contenders who share.
    bool has_shared() const noexcept { return !shared_.empty(); }
    /// Different for different locks at one path.
    const std::string& marker() const noexcept { return exclusive_; }

private:
    naming(std::string exclusive, std::string shared)
        : exclusive_(std::move(exclusive)), shared_(std::move(shared)) {}

    std::string exclusive_;
    std::string shared_;
    bool kazoo_ = false; ///< kazoo's nodes are contenders, too
};

/// What Curator's Revoker writes into a contender's node to have the lock back.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// The name of the node beside a simple lock's own: that one's name is used again by others, this
/// one is unique. It is no contender of any lock.
std::string marker_name(const claims& ids, node_id id, std::string_view lock_name);
/// The name of the simple lock that a marker belongs to, if it is one.
std::optional<std::string_view> marked_lock(std::string_view child) noexcept;

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
