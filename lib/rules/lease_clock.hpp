#pragma once

#include <paddock/boot_clock.hpp>

#include <deque>

namespace paddock::rules {

/// The durations of a lease. They follow from the negotiated session timeout, and from the
/// ensemble's tickTime, if that is known.
struct lease_timing {
    boot_clock::duration timeout{};
    /// A server reports the sessions that have sent it a request to the leader every half tick. So
    /// a touch counts for a proof only if it was answered at least this long before the proof was
    /// sent.
    boot_clock::duration gap{};
    boot_clock::duration beat{};     ///< between two heartbeats
    int beats_of_proof = 1;          ///< one heartbeat in so many has a proof
    boot_clock::duration patience{}; ///< after which an unanswered read counts as a dead connection
    boot_clock::duration margin{};   ///< holds are given up this long before the lease lapses
    boot_clock::duration least{};    ///< the validity that a new hold needs
};

struct lease_settings {
    boot_clock::duration tick{};   ///< zero: not known
    boot_clock::duration margin{}; ///< as above
    boot_clock::duration least{};  ///< zero: a quarter of the timeout
    boot_clock::duration renew{};  ///< between two proofs; zero: 4/25 of the timeout
    bool by_sync = false;          ///< proofs are syncs, which the leader answers without a quorum
};

/// The patience grows by up to a quarter at random, so that the clients of a server that falls
/// silent do not all leave it at one moment. A larger part finds silence later.
inline constexpr int part_of_patience_at_random = 4;

/// A lease is late when so much of the timeout is left: less than a healthy one has, whatever
/// `renew` is, and more than the longest margin.
inline constexpr int late_part = 3;

/// How long a leader that is cut off from its followers answers syncs: for longer than a tick.
template <typename Duration>
constexpr Duration sync_gap(Duration tick) noexcept {
    return tick * 3 / 2;
}

lease_timing lease_timing_of(boot_clock::duration timeout, const lease_settings& settings) noexcept;

/// The longest time between two proofs that leaves room in the lease for one lost answer and one
/// reconnect (1/25 of the timeout).
boot_clock::duration longest_renewal(boot_clock::duration timeout,
                                     const lease_settings& settings) noexcept;

/// Computes until when a session is certainly alive, by the local clock.
///
/// A *touch* is any answered request: the connected server has received a request of the
/// session, and will report that to the leader. That alone proves nothing, because a server that is
/// cut off from the others goes on answering reads. A *proof* is an answered write: a quorum has
/// agreed that the session was alive then. A touch that reached the leader before the proof extends
/// the session: it lives for its timeout from when that touch was sent.
class lease_clock {
public:
    explicit lease_clock(const lease_timing& timing) : timing_(timing) {}

    /// The handshake of a new connection began then. In it the leader itself renews the session.
    void connected(boot_clock::time_point handshake);
    void touched(boot_clock::time_point sent, boot_clock::time_point answered);
    /// Until when the session is alive, given the answer to a proof that was sent then on the
    /// present connection.
    boot_clock::time_point proved(boot_clock::time_point sent);

    const lease_timing& timing() const noexcept { return timing_; }

private:
    struct touch {
        boot_clock::time_point sent, answered;
    };

    lease_timing timing_;
    boot_clock::time_point renewed_{}; ///< the leader renewed the session no earlier than this
    std::deque<touch> touches_;        ///< sampled, in the order of their answers
};

} // namespace paddock::rules
