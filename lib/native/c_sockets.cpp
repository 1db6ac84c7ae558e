#include "native/c_sockets.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

extern "C" int paddock_c_socket(int family, int type, int protocol) noexcept {
    auto* const of = paddock::native::c_sockets::current();
    return of != nullptr ? of->open() : ::socket(family, type, protocol);
}

extern "C" int paddock_c_connect(int socket, const sockaddr* address, socklen_t size) noexcept {
    auto* const of = paddock::native::c_sockets::current();
    return of != nullptr ? of->connect(address, size) : ::connect(socket, address, size);
}

/// The options are those of TCP.
extern "C" int paddock_c_setsockopt(int socket, int level, int name, const void* value,
                                    socklen_t size) noexcept {
    if (paddock::native::c_sockets::current() != nullptr) return 0;
    return ::setsockopt(socket, level, name, value, size);
}

namespace paddock::native {

int c_sockets::open() noexcept {
    forget();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return -1;
    far_end_ = ends[1];
    return ends[0];
}

int c_sockets::connect(const sockaddr* address, socklen_t size) noexcept {
    address_size_ = std::min<socklen_t>(size, sizeof address_);
    std::memcpy(&address_, address, address_size_);
    connected_ = true;
    errno = EINPROGRESS;
    return -1;
}

void c_sockets::forget() noexcept {
    connected_ = false;
    if (far_end_ >= 0) ::close(std::exchange(far_end_, -1));
}

std::optional<c_sockets::opened> c_sockets::take() {
    if (!std::exchange(connected_, false)) return std::nullopt;
    boost::asio::ip::tcp::endpoint peer;
    std::memcpy(peer.data(), &address_, std::min<std::size_t>(address_size_, peer.capacity()));
    return opened{std::exchange(far_end_, -1), peer.address().to_string(), peer.port()};
}

} // namespace paddock::native
