#pragma once

#include "locks/metadata.hpp"
#include "session/core.hpp"

#include <paddock/options.hpp>

#include <memory>
#include <string>

namespace paddock::detail {

/// What a mutex and its attempts share; it does not change.
struct mutex_impl {
    std::shared_ptr<core> client;
    std::string directory; ///< below the client's root
    mutex_options options;
    metadata data; ///< of its nodes
};

} // namespace paddock::detail
