#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/znode.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::rules {

/// When a node was created, in milliseconds since 1970, if it belongs to no session: a persistent
/// node or a container, which the end of no program deletes.
inline std::optional<std::int64_t> left_since(const node_stat* stat) {
    constexpr auto container = std::numeric_limits<std::int64_t>::min();
    const bool left = stat && (stat->ephemeral_owner == 0 || stat->ephemeral_owner == container);
    return left ? std::optional(stat->ctime) : std::nullopt;
}

/// Nodes without a session that callers have long waited behind.
struct leftover_nodes {
    struct one {
        std::string name;
        std::int64_t ctime;
    };
    std::vector<one> found{};
    std::optional<boot_clock::time_point> next{}; ///< when to look again
};

/// The nodes without a session that stand before callers of one lock.
class leftovers {
public:
    /// A node was read: see left_since().
    void saw(std::string_view name, std::optional<std::int64_t> ctime,
             boot_clock::time_point since) {
        const auto it = nodes_.find(name);
        if (it != nodes_.end() && it->second.ctime == ctime) return;
        gone(name);
        if (ctime) nodes_.emplace(name, known{*ctime, since});
    }
    void gone(std::string_view name) {
        if (const auto it = nodes_.find(name); it != nodes_.end()) nodes_.erase(it);
    }
    void clear() noexcept { nodes_.clear(); }
    bool empty() const noexcept { return nodes_.empty(); }

    /// Those that have blocked for so long, and again each time it has passed once more.
    template <typename Blocks>
    leftover_nodes due(boot_clock::time_point now, boot_clock::duration patience, Blocks blocks) {
        leftover_nodes all;
        for (auto& [name, node] : nodes_) {
            if (!blocks(name)) {
                node.since = now;
                continue;
            }
            if (node.since + patience <= now) {
                all.found.push_back({name, node.ctime});
                node.since = now;
            }
            const auto again = node.since + patience;
            if (!all.next || again < *all.next) all.next = again;
        }
        return all;
    }

private:
    struct known {
        std::int64_t ctime;
        boot_clock::time_point since; ///< it blocks, or the last report
    };
    std::map<std::string, known, std::less<>> nodes_;
};

} // namespace paddock::rules
