#include "sim/relayed_end.hpp"

#include "sim/encrypted_stream.hpp"
#include "sim/violation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace paddock::test::sim {

relayed_end::relayed_end(const std::shared_ptr<host>& in, environment& network, int server)
    : here_(in), identity_(in->next_identity()) {
    std::array<int, 2> ends{};
    must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0,
         "no sockets are left");
    near_ = ends[0];
    if (here_->chance().one_in(2)) { // so that a side that does not read is soon full
        const int small = 4096;
        for (const int end : ends)
            ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    }
    relay_ = std::make_unique<native::relay>(
        network, ends[1], "10.0.0." + std::to_string(server + 1), std::uint16_t{2281},
        [frames = frames_](std::unique_ptr<stream> connected, stream::done secured) {
            static_cast<encrypted_stream&>(*connected).shake_hands(frames, std::move(secured));
            return connected;
        });
}

bool relayed_end::broken() const noexcept {
    char next = 0;
    const auto size = ::recv(near_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN);
}

void relayed_end::look() {
    char first = 0;
    if (!carries_ && relay_->at() != native::relay::stage::connecting &&
        relay_->at() != native::relay::stage::securing)
        carries_ = ::recv(near_, &first, 1, MSG_DONTWAIT) == 1 && first == native::relay::carries;
    if (carries_) push_out();
}

void relayed_end::receive() {
    std::array<char, 4096> bytes;
    while (inbound.empty()) {
        const auto wanted = std::min(bytes.size(), std::max<std::size_t>(frames_->down.rest(), 1));
        const auto size = ::recv(near_, bytes.data(), wanted, MSG_DONTWAIT);
        if (size <= 0) return;
        const bool intact =
            frames_->down.take({bytes.data(), static_cast<std::size_t>(size)},
                               [this](packet arrived) { inbound.push_back(std::move(arrived)); });
        if (intact) continue;
        here_->fault = here_->name + " has received what no server has sent";
        return;
    }
}

void relayed_end::discard() {
    for (inbound.clear(), receive(); !inbound.empty(); receive())
        inbound.clear();
}

void relayed_end::shake_hands(std::int64_t session, std::chrono::milliseconds timeout,
                              std::int64_t seen) {
    post([session, timeout, seen](socket& at) { at.shake_hands(session, timeout, seen); });
}

bool relayed_end::send(request r) {
    if (!sends_fail_) post([r = std::move(r)](socket& at) mutable { at.send(std::move(r)); });
    return !sends_fail_;
}

void relayed_end::post(unique_function<void(socket&)> what) {
    unsent_ += frames_->up.encode(std::move(what), here_->chance());
    push_out();
}

void relayed_end::push_out() noexcept {
    while (!unsent_.empty()) {
        const auto size =
            ::send(near_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0) {
            if (errno == EAGAIN) return;
            sends_fail_ = true;
            return unsent_.clear();
        }
        unsent_.erase(0, static_cast<std::size_t>(size));
    }
}

void relayed_end::flush() noexcept {
    if (carries_) push_out();
    relay_->flush();
}

void relayed_end::close() noexcept {
    if (near_ >= 0) ::close(std::exchange(near_, -1));
}

void relayed_end::shut_down() { ::shutdown(near_, SHUT_RDWR); }

} // namespace paddock::test::sim
