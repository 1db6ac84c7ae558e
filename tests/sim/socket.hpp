#pragma once

#include "sim/client_end.hpp"
#include "sim/timeline.hpp"

#include <cstdint>
#include <memory>

namespace paddock::test::sim {

class ensemble;

/// A client's connection to a server: both ends, and the messages under way. The first part is the
/// client's end, the second the server's.
class socket final : public client_end, public std::enable_shared_from_this<socket> {
public:
    socket(ensemble& all, std::uint64_t identity, int server);

    // --- the client's end ---

    void dial();
    /// The number is always the same.
    descriptor where() const noexcept override { return {5, identity}; }
    bool established() const noexcept override { return established_; }
    bool broken() const noexcept override { return broken_; }
    void shake_hands(std::int64_t session, std::chrono::milliseconds timeout,
                     std::int64_t seen) override;
    bool send(request r) override;
    void close() override;
    void shut_down() override;
    /// Called when it may be readable or writable.
    unique_function<void()> changed;

    // --- the server's end ---

    void push(packet p);
    void hang_up();

    // --- faults of connections ---

    /// Is lost, at each end at another moment; some of the packets under way still arrive.
    void lose();
    void hold_until(time_point when);
    /// Nothing arrives any more.
    void forget() noexcept;

    const std::uint64_t identity;
    const int server;

private:
    void end_here(bool keep_inbound);
    duration latency();

    ensemble& all_;
    channel up_, down_;
    bool established_ = false;
    bool broken_ = false;
    bool sends_fail_ = false;
    bool closed_ = false;      ///< by the client
    bool server_gone_ = false; ///< the server's end does not exist any more
};

} // namespace paddock::test::sim
