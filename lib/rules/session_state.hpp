#pragma once

#include "rules/actions.hpp"
#include "rules/outcome.hpp"

#include <paddock/boot_clock.hpp>

#include <utility>

namespace paddock::rules {

/// What a set of rules knows of its client's session, and what it waits for there beside its own
/// requests. It asks for parents, a pause and the lease once each, until that is answered.
///
/// Invariant: nothing is waited for when a session has expired.
class session_state {
public:
    // The present facts; the driver sets them before every other call, because they change with
    // time.
    /// Whether the lease lasts long enough for a grant.
    void lease(bool fit) noexcept { lease_fit_ = fit; }
    void now(boot_clock::time_point t) noexcept { now_ = t; }
    boot_clock::time_point now() const noexcept { return now_; }

    // Events of the session.
    void connect() noexcept {
        connected_ = true;
        making_parents_ = false;
    }
    void disconnect() noexcept { connected_ = false; }
    void expire() noexcept { connected_ = making_parents_ = pausing_ = awaiting_lease_ = false; }
    bool is_connected() const noexcept { return connected_; }
    /// A set of rules repeats a request that was not sent when it is connected again. If the answer
    /// arrives after that, it means `later` instead, because no other event would repeat the
    /// request.
    outcome unless_late(outcome result) const noexcept {
        return connected_ && result == outcome::not_sent ? outcome::later : result;
    }

    /// Asks for a pause before a request is repeated.
    template <typename Actions>
    void need_pause(Actions& actions) {
        if (!std::exchange(pausing_, true)) actions.emplace_back(common_act::pause{});
    }
    bool pausing() const noexcept { return pausing_; }
    /// Whether there was a pause, which has ended now.
    bool end_pause() noexcept { return std::exchange(pausing_, false); }

    /// Asks for the missing components of the directory's path.
    template <typename Actions>
    void need_parents(Actions& actions, bool directory = true) {
        if (!std::exchange(making_parents_, true))
            actions.emplace_back(common_act::make_parents{directory});
    }
    bool making_parents() const noexcept { return making_parents_; }
    void parents_made() noexcept { making_parents_ = false; }

    bool lease_fit() const noexcept { return lease_fit_; }
    /// Whether a grant must wait for a longer lease; then it asks for that.
    template <typename Actions>
    bool must_await_lease(Actions& actions) {
        if (lease_fit_) return false;
        if (!std::exchange(awaiting_lease_, true)) actions.emplace_back(common_act::await_lease{});
        return true;
    }
    void lease_renewed() noexcept { awaiting_lease_ = false; }

private:
    friend struct state_of_rules; ///< of tests that look at every state

    boot_clock::time_point now_{};
    bool connected_ = false;
    bool making_parents_ = false;
    bool pausing_ = false;
    bool lease_fit_ = true;
    bool awaiting_lease_ = false;
};

} // namespace paddock::rules
