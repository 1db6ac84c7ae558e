#pragma once

#include "support/environment.hpp"
#include "support/stream.hpp"

#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::native {

/// One encrypted connection of the C client, which cannot encrypt on an event loop: carries the
/// bytes between the C client's socket, a local one, and the network. In each direction one chunk
/// is on its way at a time, so that a slow side slows the other. When one side ends, the other is
/// closed at once. Strand only.
class relay {
public:
    using error_code = boost::system::error_code;
    /// Encrypts a connected stream, and calls `secured` at the end of the handshake.
    using encrypt = unique_function<std::unique_ptr<stream>(std::unique_ptr<stream> connected,
                                                            stream::done secured)>;
    enum class stage { connecting, securing, carrying, ended };

    /// Begins to connect. `local_end` is the other end of the C client's socket; the relay closes
    /// it.
    relay(environment& env, int local_end, const std::string& address, std::uint16_t port,
          encrypt how);
    ~relay() { end({}); }
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;

    stage at() const noexcept { return stage_; }
    /// Why it ended, and in which stage it was then; no error if the C client's side has ended.
    const error_code& failure() const noexcept { return failure_; }
    stage ended_in() const noexcept { return ended_in_; }
    /// To the server, whatever became of it.
    bool has_connected() const noexcept {
        return (stage_ == stage::ended ? ended_in_ : stage_) != stage::connecting;
    }

    /// What the C client sees first, so that its socket can be read: one byte, when the connection
    /// carries. Whoever drives it takes the byte away.
    static constexpr char carries = '!';

    /// Sends what the C client has written so far, and sees whether it has closed its socket. Only
    /// these calls do: the C client writes and closes only when somebody calls it.
    void flush() noexcept;

    /// The network's socket, for close() without an event loop; -1 if it carries nothing.
    int network_descriptor() const noexcept;

private:
    void connected(const error_code& error);
    void secured(const error_code& error);
    void read();
    void deliver(std::string_view bytes);
    void keep(std::string_view rest);
    void end(const error_code& why) noexcept;

    environment& env_;
    int local_end_;
    encrypt encrypt_;
    tcp_stream* tcp_; ///< below network_
    std::unique_ptr<stream> network_;
    stage stage_ = stage::connecting;
    stage ended_in_ = stage::connecting;
    error_code failure_;
    bool sending_ = false;                      ///< a chunk to the network
    std::string undelivered_;                   ///< for the C client, which has no room for it
    std::unique_ptr<readiness> local_is_ready_; ///< for that
};

} // namespace paddock::native
