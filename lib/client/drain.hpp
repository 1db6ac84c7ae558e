#pragma once

#include "client/client_base.hpp"

#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>

#include <chrono>
#include <memory>

namespace paddock::detail {

/// The operation drain() of the clients. Any thread.
void start_drain(handler<void(error_code)> h, const std::shared_ptr<client_base>& client,
                 std::chrono::nanoseconds limit);

} // namespace paddock::detail
