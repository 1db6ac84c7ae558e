#pragma once

#include "support/function.hpp"

#include <string>

namespace paddock::detail {

class core;

/// Creates a directory and what is missing of its path, as containers or as persistent nodes, open
/// to everybody. Calls back with the code that ended it, 0 when the directory exists.
void make_directory(core& client, const std::string& directory, bool persistent,
                    unique_function<void(int code)> done);

} // namespace paddock::detail
