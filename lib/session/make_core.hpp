#pragma once

#include "session/session_keeper.hpp"

#include <paddock/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// Checks the arguments of client's constructor, and throws its exceptions. The core shuts down
/// with the executor's context.
std::shared_ptr<core> make_core(asio::any_io_executor io, world outside, std::string_view servers,
                                client_options options);

/// Checks the argument of client::set_servers(), and throws its exceptions.
std::vector<native::server_address> new_servers(std::string_view servers, std::string_view root);

} // namespace paddock::detail
