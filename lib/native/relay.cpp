#include "native/relay.hpp"

#include <boost/asio/error.hpp>

#include <array>
#include <cerrno>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace paddock::native {

namespace {
/// One record of TLS.
constexpr std::size_t chunk = 16 * 1024;

/// Also with bytes in it that nobody has read.
bool is_closed(int local_end) noexcept {
    pollfd at{local_end, 0, 0};
    return ::poll(&at, 1, 0) > 0 && (at.revents & POLLHUP) != 0;
}
} // namespace

relay::relay(environment& env, int local_end, const std::string& address, std::uint16_t port,
             encrypt how)
    : env_(env), local_end_(local_end), encrypt_(std::move(how)) {
    auto tcp = env.make_stream();
    tcp_ = tcp.get();
    network_ = std::move(tcp);
    tcp_->connect(address, port, [this](error_code error) { connected(error); });
}

void relay::connected(const error_code& error) {
    if (error) return end(error);
    stage_ = stage::securing;
    network_ = encrypt_(std::move(network_), [this](error_code e) { secured(e); });
}

void relay::secured(const error_code& error) {
    if (error) return end(error);
    stage_ = stage::carrying;
    ::send(local_end_, &carries, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    read();
}

void relay::flush() noexcept {
    if (sending_ && is_closed(local_end_)) return end({});
    std::array<char, chunk> bytes;
    while (stage_ != stage::ended && !sending_) {
        const auto size = ::recv(local_end_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0 || stage_ != stage::carrying) return end({});
        sending_ = true;
        const bool sent = network_->write(std::string(bytes.data(), static_cast<std::size_t>(size)),
                                          [this](error_code error) {
                                              sending_ = false;
                                              if (error) return end(error);
                                              flush();
                                          });
        if (sent) sending_ = false;
    }
}

void relay::read() {
    network_->read_some([this](error_code error, std::string_view bytes) {
        if (error) return end(error);
        deliver(bytes);
    });
}

void relay::deliver(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto size =
            ::send(local_end_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return keep(bytes);
        if (size < 0) return end({});
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    read();
}

/// A pump that has fallen behind has left its socket full.
void relay::keep(std::string_view rest) {
    undelivered_ = rest;
    try {
        const descriptor local{local_end_, static_cast<std::uint64_t>(local_end_)};
        if (!local_is_ready_) local_is_ready_ = env_.make_readiness(local);
        local_is_ready_->wait_writable([this] { deliver(std::exchange(undelivered_, {})); });
    } catch (const std::exception&) { // no descriptor is left
        end(boost::asio::error::no_descriptors);
    }
}

int relay::network_descriptor() const noexcept {
    return stage_ == stage::carrying ? tcp_->descriptor() : -1;
}

void relay::end(const error_code& why) noexcept {
    if (stage_ == stage::ended) return;
    ended_in_ = std::exchange(stage_, stage::ended);
    failure_ = why;
    local_is_ready_.reset();
    network_.reset();
    ::close(local_end_);
}

} // namespace paddock::native
