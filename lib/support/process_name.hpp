#pragma once

#include <cstdint>
#include <string>

namespace paddock::detail {

/// Who a process is, for people who read it in a node.
struct process_name {
    std::string host;
    std::int64_t pid = 0;
};

process_name this_process();

} // namespace paddock::detail
