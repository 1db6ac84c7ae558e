#include "ports.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace paddock::test {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// An abstract socket address is a lock between processes which leaves nothing behind: it lives in
// the same network namespace as the port, and vanishes with the process.
int claim(std::uint16_t port) {
    const std::string name = "paddock.test.port." + std::to_string(port);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0) {
        return fd;
    }
    if (fd >= 0) {
        ::close(fd);
    }
    return -1;
}

bool is_free(std::uint16_t port) {
    asio::io_context io;
    tcp::acceptor probe(io, tcp::v4());
    boost::system::error_code error;
    probe.set_option(tcp::acceptor::reuse_address(true));
    probe.bind({asio::ip::address_v4::loopback(), port}, error);
    return !error;
}

} // namespace

reserved_port::reserved_port() {
    std::random_device random;
    std::uniform_int_distribution<std::uint16_t> ports(15000, 32000);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        number_ = ports(random);
        claim_ = claim(number_);
        if (claim_ < 0) {
            continue;
        }
        if (is_free(number_)) {
            return;
        }
        ::close(claim_);
    }
    throw std::runtime_error("no free port was found on the loopback interface");
}

reserved_port::~reserved_port() { ::close(claim_); }

} // namespace paddock::test
