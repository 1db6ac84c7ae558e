#pragma once

#include <paddock/boot_clock.hpp>

#include <deque>

namespace paddock::rules {

/// The times that a lease is made of. All follow from the session timeout that the ensemble has
/// granted, and from its tickTime, if that is known.
struct lease_timing {
    boot_clock::duration timeout{};
    /// A server tells the leader of the sessions that it has heard of every half tick; so long
    /// before a proof a touch must have been answered, so that the leader knew of it.
    boot_clock::duration gap{};
    boot_clock::duration beat{};     ///< between two heartbeats
    boot_clock::duration patience{}; ///< with a server that does not answer a read
    boot_clock::duration margin{};   ///< so long before its end a lease is given up
    boot_clock::duration least{};    ///< what must be left of it for a new hold
};

struct lease_wishes {
    boot_clock::duration tick{};   ///< zero: not known
    boot_clock::duration margin{}; ///< as above
    boot_clock::duration least{};  ///< zero: a quarter of the timeout
    bool by_sync = false;          ///< proofs are answered by the leader alone
};

lease_timing lease_timing_of(boot_clock::duration timeout, const lease_wishes& wishes) noexcept;

/// Until when a session is certainly alive, by the local clock.
///
/// A *touch* is any request that was answered: the server at hand has heard of the session, and
/// will tell the leader. That alone proves nothing: a server that is cut off from the others goes
/// on answering. A *proof* is an answered write: a quorum has agreed that the session was alive
/// then. What was told to the leader before it counts: the session lives for its timeout from the
/// sending of that touch.
class lease_clock {
public:
    explicit lease_clock(const lease_timing& timing) : timing_(timing) {}

    /// A connection was made by a handshake that began then: the server at hand had the leader
    /// itself renew the session.
    void connected(boot_clock::time_point handshake);
    void touched(boot_clock::time_point sent, boot_clock::time_point answered);
    /// Until when the session is alive by a proof that was sent then, and answered on the present
    /// connection.
    boot_clock::time_point proved(boot_clock::time_point sent);

    const lease_timing& timing() const noexcept { return timing_; }

private:
    struct touch {
        boot_clock::time_point sent, answered;
    };

    lease_timing timing_;
    boot_clock::time_point renewed_{}; ///< at the leader, no earlier than this
    std::deque<touch> touches_;        ///< in the order of their answers, some time apart
};

} // namespace paddock::rules
