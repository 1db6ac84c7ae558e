#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/contender.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::detail {

/// Selects the nodes that read_contenders() returns.
struct contender_query {
    std::shared_ptr<core> client;
    std::string directory;
    rules::naming names;
    bool all_nodes = false; ///< includes nodes with other names
};

inline contender_query query_of(const fair_lock& lock) {
    return {lock.client, lock.directory, lock.names};
}

/// Lists a directory and reads all contenders' nodes at once. Strand only.
void read_contenders(contender_query query,
                     unique_function<void(error_code, std::vector<contender>)> done);

/// Finds the contenders of a lock. Any thread.
void find_contenders(std::shared_ptr<const fair_lock> of,
                     handler<void(error_code, std::vector<contender>)> h);
/// Finds the holder of a lock; the first one if several share it. Any thread.
void find_holder(std::shared_ptr<const fair_lock> of,
                 handler<void(error_code, std::optional<contender>)> h);

} // namespace paddock::detail
