#pragma once

#include "support/argument.hpp"

#include <paddock/client.hpp>

#include <memory>

namespace paddock::detail {

/// The inside of the client that a constructor receives; throws for one that was moved from.
inline const std::shared_ptr<core>& core_of(const client& zk) {
    const auto& found = access::core_of(zk);
    if (!found) throw bad_argument("client", "was moved from");
    return found;
}

} // namespace paddock::detail
