#pragma once

#include "session/core.hpp"

#include <paddock/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string_view>

namespace paddock::detail {

/// The inside of a client, after its arguments were checked: throws what client's constructor does.
/// It ends with the executor's context.
std::shared_ptr<core> make_core(asio::any_io_executor io, world outside, std::string_view servers,
                                client_options options);

} // namespace paddock::detail
