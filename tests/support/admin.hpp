#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

// Reads a server's HTTP interface (`zk_server::admin_port`), synchronously.

namespace paddock::test {

struct watch_totals {
    /// Sessions that have a watch.
    std::size_t connections = 0;
    std::size_t paths = 0;
    std::size_t watches = 0;
};

watch_totals watch_summary(std::uint16_t admin_port);

/// Path -> the ids of the sessions that watch it, as the server writes them ("0x1000…"). Data,
/// existence and child watches alike.
std::map<std::string, std::set<std::string>> watches_by_path(std::uint16_t admin_port);

/// Watches on this path and below it, over all sessions.
std::size_t count_watches_under(std::uint16_t admin_port, const std::string& prefix);

/// The text that a command of the interface answers, such as "connections"; throws if it fails.
std::string admin_command(std::uint16_t admin_port, const std::string& command);

} // namespace paddock::test
