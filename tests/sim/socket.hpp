#pragma once

#include "sim/messages.hpp"
#include "sim/timeline.hpp"

#include <cstdint>
#include <deque>
#include <memory>

namespace paddock::test::sim {

class ensemble;

/// A client's connection to a server: both ends, and the messages under way. The first part is the
/// client's end, the second the server's.
class socket : public std::enable_shared_from_this<socket> {
public:
    socket(ensemble& all, std::uint64_t identity, int server);

    // --- the client's end ---

    void dial();
    bool established() const noexcept { return established_; }
    /// Refused, reset, or ended by the server, as far as the client can know.
    bool broken() const noexcept { return broken_; }
    std::deque<packet> inbound;

    /// Asks for a session; 0 for a new one.
    void shake_hands(std::int64_t session, std::chrono::milliseconds timeout, std::int64_t seen);
    /// False if the operating system refuses at once.
    bool send(request r);
    /// Sent packets arrive, then the end.
    void close();
    /// The client's own shutdown(SHUT_RDWR).
    void shut_down();
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
