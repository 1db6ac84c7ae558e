#pragma once

#include "rules/claims.hpp"

#include <paddock/fencing_token.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::rules {

/// The order of the nodes in a lock queue: by sequence number, ties by name. It is the order of
/// their creation, and must be: what was granted stays the first because every later node is behind
/// it, and fencing tokens grow because grants follow the creation.
struct node_position {
    std::int32_t sequence = 0;
    std::string name; ///< of the node, without its directory

    friend auto operator<=>(const node_position&, const node_position&) = default;
};

/// Whether a lock name contains a name part that a recipe at the same path uses.
bool reserved(std::string_view lock_name) noexcept;

/// Whether a contender wants the lock exclusively or shared.
enum class role : std::uint8_t { exclusive, shared };

/// Whether two contenders of these roles cannot have the lock at one time.
constexpr bool exclude_each_other(role a, role b) noexcept {
    return a == role::exclusive || b == role::exclusive;
}

/// Whose naming scheme a contender's node follows.
enum class style : std::uint8_t { curator, kazoo };

/// The parsed name of a contender's node.
struct reading {
    std::int32_t sequence = 0;
    role as = role::exclusive;
};

/// The node names of one lock. Our nodes are named `_c_<id>-<marker><sequence>`, as Curator's
/// recipes name theirs, or `<id>__lock__<sequence>`, as kazoo's Lock does.
class naming {
public:
    /// A mutex; with the name `lock`, Curator's InterProcessMutex and kazoo's Lock.
    explicit naming(const std::string& lock_name);
    /// Curator's InterProcessReadWriteLock.
    static naming of_shared_mutex() { return naming("__WRIT__", "__READ__"); }
    /// Curator's LeaderLatch.
    static naming of_election() { return naming("latch-", {}); }
    /// The permit nodes of Curator's InterProcessSemaphoreV2, which calls them leases.
    static naming of_leases() { return naming("lease-", {}); }

    /// The name to create a node with; the ensemble appends the sequence number.
    std::string prefix(const claims& ids, node_id id, role as = role::exclusive,
                       style whose = style::curator) const;

    /// Parses a node's name; empty if the node is no contender for this lock. The contenders of the
    /// mutex `lock` are `_c_<id>-lock-<sequence>` with an id of 36 (Curator, paddock) or 32
    /// characters (Go), `lock-<sequence>`, kazoo's `<32 hex digits>__lock__<sequence>`, and the
    /// names that kazoo's Lock makes when it is configured with Curator's marker. The sequence must
    /// be exactly what the server prints with %010d.
    std::optional<reading> read(std::string_view child) const noexcept;
    std::optional<std::int32_t> sequence(std::string_view child) const noexcept;
    /// The fencing token of a contender's node; zero for a shared contender and other nodes.
    fencing_token token(std::string_view child, std::int64_t czxid) const noexcept;

    /// Whether the lock can be shared.
    bool has_shared() const noexcept { return !shared_.empty(); }
    /// The part of the names that distinguishes the locks at one path.
    const std::string& marker() const noexcept { return exclusive_; }

private:
    naming(std::string exclusive, std::string shared)
        : exclusive_(std::move(exclusive)), shared_(std::move(shared)) {}

    std::string exclusive_;
    std::string shared_;
    bool kazoo_ = false; ///< kazoo's nodes are contenders, too
};

/// What Curator's Revoker writes into a holder's node to ask for the lock back.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// The name of the marker beside a simple lock's node. Each owner creates a node of the same name
/// for the lock; the marker's name is unique. It is no contender of any lock.
std::string marker_name(const claims& ids, node_id id, std::string_view lock_name);
/// The name of the simple lock that a marker belongs to; empty if the node is no marker.
std::optional<std::string_view> marked_lock(std::string_view child) noexcept;

/// The number in a node's name if its id belongs to the present session, whatever the lock.
std::optional<node_id> own_id(std::string_view child, const claims& ids) noexcept;

/// The children of a directory that belong to the present session and whose id is not claimed.
std::vector<std::string> orphans(const std::vector<std::string>& children, const claims& ids);

/// From this sequence number on the queue warns: half of the numbers are used up.
inline constexpr std::int32_t sequence_warning = 1 << 30;
/// A node with a sequence number from here on, or a negative one, is deleted again: past 2^31 the
/// numbers become negative and the queue loses its order (ZOOKEEPER-3249; kazoo issue 606).
/// The distance is for the creates of all clients that are under way when the first one sees it.
inline constexpr std::int32_t sequence_limit = 0x7fff'ffff - 100'000;

} // namespace paddock::rules
