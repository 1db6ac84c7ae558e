#pragma once

#include "line/line.hpp"
#include "locks/metadata.hpp"
#include "rules/names.hpp"
#include "session/core.hpp"

#include <paddock/options.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace paddock {
class client;
}

namespace paddock::detail {

/// A lock over a line, as its attempts share it; it does not change.
struct line_lock {
    std::shared_ptr<core> client;
    std::string directory; ///< below the client's root
    rules::naming names;
    rules::style style = rules::style::curator;
    metadata data; ///< of its nodes
    paddock::acl acl;
    bool persistent_parents = false;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

/// What mutex and its kin are made of; throws for arguments that are not acceptable.
std::shared_ptr<const line_lock> make_line_lock(const client& zk, std::string_view path,
                                                mutex_options options);

} // namespace paddock::detail
