#pragma once

#include "support/function.hpp"

#include <string>

namespace paddock::detail {

class core;

/// Creates a directory and the missing components of its path, as container or persistent nodes
/// with an open access control list. Calls back with 0 when the directory exists, else with the
/// error code; `made`: it did not exist before. A missing root of the client is only made with
/// client_options::create_root, and persistent; else the error code is `no_root_code`.
void make_directory(core& client, const std::string& directory, bool persistent,
                    unique_function<void(int code, bool made)> done);

} // namespace paddock::detail
