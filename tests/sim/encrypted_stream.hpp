#pragma once

#include "sim/frames.hpp"
#include "sim/host.hpp"
#include "support/stream.hpp"

#include <memory>
#include <string>

namespace paddock::test::sim {

/// What the relay of an encrypted connection has for a network: carries the bytes of frames, in
/// pieces of any size, and takes its time with them.
class encrypted_stream final : public tcp_stream {
public:
    explicit encrypted_stream(std::shared_ptr<host> in);
    ~encrypted_stream() override { close(); }

    /// TLS's handshake. It fails, or has no end, as often as a connection breaks.
    void shake_hands(std::shared_ptr<carried_frames> frames, done secured);

    void connect(const std::string& address, std::uint16_t port, done connected) override;
    void read_some(received call) override;
    bool write(std::string bytes, done written) override;
    void close() noexcept override;
    void abort() noexcept override { close(); }

private:
    struct inside;

    std::shared_ptr<inside> inside_;
};

} // namespace paddock::test::sim
