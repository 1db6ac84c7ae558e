#pragma once

#include "sim/messages.hpp"
#include "support/environment.hpp"

#include <chrono>
#include <cstdint>
#include <deque>

namespace paddock::test::sim {

/// A connection, as the C client sees it.
class client_end {
public:
    virtual ~client_end() = default;

    virtual descriptor where() const noexcept = 0;
    virtual bool established() const noexcept = 0;
    /// Refused, reset, or ended by the server, as far as the client can know.
    virtual bool broken() const noexcept = 0;
    /// Packets that have come.
    std::deque<packet> inbound;
    /// Looks for one, if there is none.
    virtual void receive() {}
    /// Looks whether it is established, and sends what has had no room before.
    virtual void look() {}
    /// Whether something has no room.
    virtual bool full() const noexcept { return false; }
    /// Discards the packets that have come.
    virtual void discard() { inbound.clear(); }

    /// Asks for a session; 0 for a new one.
    virtual void shake_hands(std::int64_t session, std::chrono::milliseconds timeout,
                             std::int64_t seen) = 0;
    /// False if the operating system refuses at once.
    virtual bool send(request r) = 0;
    /// Sent packets arrive, then the end.
    virtual void close() = 0;
    /// The client's own shutdown(SHUT_RDWR).
    virtual void shut_down() = 0;
};

} // namespace paddock::test::sim
