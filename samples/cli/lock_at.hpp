// The lock at a path, whatever its kind: who holds it, who waits, and what an operator can do.
#pragma once

#include "node_names.hpp"
#include "settings.hpp"

#include <paddock/contender.hpp>
#include <paddock/watch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Which lock, as the command line says it.
struct lock_place {
    server_options servers{};
    std::string path{};
    std::vector<std::string> key{}; ///< a family and its key, instead of a path
    lock_kind kind = lock_kind::none;
};
void add_place(CLI::App& app, lock_place& into);

/// A contender, with the ID by which the commands know it.
struct listed_contender {
    std::string id{};
    paddock::contender of{};
    bool perhaps_waits = false;         ///< a permit of a session that waits for more
    std::optional<milliseconds> left{}; ///< of a key on Redis
};

/// What an operator can do with the lock.
struct lock_operations {
    std::function<asio::awaitable<std::vector<paddock::contender>>()> contenders{};
    std::function<asio::awaitable<void>(paddock::contender)> revoke{}, kick{};
};

struct lock_view {
    bool exists = true; ///< a node, or key, of that name
    lock_kind kind = lock_kind::none;
    std::string path{};
    std::vector<listed_contender> contenders{};
    std::vector<paddock::key_in_use> keys{}; ///< of a family, or nodes below a directory
    std::string note{};                      ///< what else is to be said
    lock_operations can{};
};

/// Reads it. The watches, which end with the next change of it, are those of ZooKeeper's nodes; on
/// Redis there are none. Throws usage_error for a kind that does not go together with the servers.
asio::awaitable<lock_view> look(servers& at, const lock_place& where,
                                std::vector<paddock::watch>* watches = nullptr);

} // namespace cli
