#include "support/process_name.hpp"

#include <array>
#include <unistd.h>

namespace paddock::detail {

process_name this_process() {
    std::array<char, 256> host{}; // POSIX: a host name has 255 bytes at most
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return {host.data(), ::getpid()};
}

} // namespace paddock::detail
