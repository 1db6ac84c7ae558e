#include "tcp_segments.hpp"

// Not <netinet/tcp.h>, which lacks this counter and cannot be included beside it.
#include <cerrno>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>

namespace paddock::test {

unsigned data_segments_out(int socket) {
    tcp_info about{};
    socklen_t size = sizeof about;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &about, &size) != 0)
        throw std::system_error(errno, std::generic_category(), "TCP_INFO");
    return about.tcpi_data_segs_out;
}

} // namespace paddock::test
