#pragma once

#include "native/relay.hpp"
#include "sim/client_end.hpp"
#include "sim/frames.hpp"
#include "sim/host.hpp"

#include <memory>
#include <string>

namespace paddock::test::sim {

/// A connection that the library's own relay encrypts: the C client has a socket of the system, and
/// the relay carries its bytes.
class relayed_end final : public client_end {
public:
    relayed_end(const std::shared_ptr<host>& in, environment& network, int server);
    ~relayed_end() override { close(); }

    /// Whether TLS's handshake is under way.
    bool secures() const noexcept { return !carries_ && relay_->has_connected(); }
    /// Sends what the C client has written.
    void flush() noexcept;

    descriptor where() const noexcept override { return {near_, identity_}; }
    bool established() const noexcept override { return carries_; }
    bool broken() const noexcept override;
    void receive() override;
    void look() override;
    bool full() const noexcept override { return !unsent_.empty(); }
    void discard() override;
    void shake_hands(std::int64_t session, std::chrono::milliseconds timeout,
                     std::int64_t seen) override;
    bool send(request r) override;
    void close() noexcept override;
    void shut_down() override;

private:
    void post(unique_function<void(socket&)> what);
    void push_out() noexcept;

    std::shared_ptr<host> here_;
    const std::uint64_t identity_;
    std::shared_ptr<carried_frames> frames_ = std::make_shared<carried_frames>();
    int near_ = -1;
    std::unique_ptr<native::relay> relay_;
    bool carries_ = false;
    bool sends_fail_ = false;
    std::string unsent_; ///< for which the socket has no room
};

} // namespace paddock::test::sim
