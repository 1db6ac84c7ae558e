#include "message.hpp"

#include <cstring>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace cli {

std::int64_t to_number(boot_clock::time_point time) { return time.time_since_epoch().count(); }

bool send(int socket, const message& what) {
    std::string bytes(sizeof what.what + sizeof what.value, '\0');
    std::memcpy(bytes.data(), &what.what, sizeof what.what);
    std::memcpy(bytes.data() + sizeof what.what, &what.value, sizeof what.value);
    bytes += what.text;
    return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
}

std::optional<message> receive(int socket) {
    const ssize_t length = recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC);
    std::string bytes(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    message read;
    constexpr std::size_t head = sizeof read.what + sizeof read.value;
    if (length < static_cast<ssize_t>(head) ||
        recv(socket, bytes.data(), bytes.size(), 0) != length)
        return {};
    std::memcpy(&read.what, bytes.data(), sizeof read.what);
    std::memcpy(&read.value, bytes.data() + sizeof read.what, sizeof read.value);
    read.text = bytes.substr(head, static_cast<std::size_t>(length) - head);
    return read;
}

bool all_is_read(int socket) {
    int left = 0;
    return ioctl(socket, SIOCOUTQ, &left) == 0 && left == 0;
}

} // namespace cli
