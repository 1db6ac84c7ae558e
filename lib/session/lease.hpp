#pragma once

#include "client/lease_term.hpp"
#include "client/loss_log.hpp"
#include "observation/observers.hpp"
#include "rules/lease_clock.hpp"
#include "session/dispatcher.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <paddock/options.hpp>

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace paddock::detail {

/// A user of the lease, for example a hold: while it is in the lease's list, the lease is renewed.
class lease_user : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual void on_lapse() = 0; ///< the lease has taken it off the list before this call

protected:
    ~lease_user() = default;
};

/// What the lease needs from the client.
struct lease_parts {
    environment& env;
    lease_term::clock clock;
    class dispatcher& dispatcher;
    trouble_log& log;
    loss_log& losses;
    class observers& observers;
    /// The connected server has not answered since then.
    unique_function<void(boot_clock::time_point)> on_silence;
    unique_function<void()> on_answer; ///< it answers again
};

/// Knows until when the present session is certainly alive. It renews that time with heartbeats,
/// and reports its end. Terms follow one another; a hold that was granted in one term ends with it.
/// Strand only; guards on other threads read the terms, which are thread-safe.
class lease final : public answer_observer {
public:
    lease(lease_parts parts, const lease_options& options);

    /// The term of a hold that is granted now.
    std::shared_ptr<const lease_term> term() const noexcept { return term_; }
    /// Whether that is the present term.
    bool has(const std::shared_ptr<const lease_term>& term) const noexcept { return term == term_; }
    /// Whether the term lasts long enough for a new hold.
    bool fit() const noexcept { return fit(parts_.env.now()); }
    /// The same for who has just read the clock.
    bool fit(boot_clock::time_point now) const noexcept;
    /// Calls `tell` once the lease is fit; never if the session ends before.
    void when_fit(unique_function<void()> tell);
    /// Renews the lease for this user, which has its present term.
    void keep(lease_user& user);
    /// A user has found its term lapsed: tells the observer, and the log if the event loop is to
    /// blame.
    void explain_lapse();

    void on_connected(bool new_session, boot_clock::time_point handshake,
                      boot_clock::duration timeout);
    void on_suspended();
    /// The session has ended, and all terms with it. The session's listeners inform the users.
    void end();

    void on_answer(const observed_answer& seen) override;

    /// When the newest of the answered requests was sent.
    boot_clock::time_point last_touch() const noexcept { return last_touch_; }

    // Any thread.
    /// Whether the servers answer too late for a lock to be granted.
    bool slow() const noexcept { return slow_.load(std::memory_order_relaxed); }
    /// How long the session is certainly alive from now on.
    boot_clock::duration remaining() const;
    /// When a server has last answered a request of the client; the clock's epoch before.
    boot_clock::time_point last_answer() const noexcept {
        return boot_clock::time_point(
            boot_clock::duration(answered_at_.load(std::memory_order_relaxed)));
    }

private:
    boot_clock::time_point given_up_at() const noexcept;
    boot_clock::time_point healthy_until() const noexcept;
    boot_clock::time_point late_at() const noexcept;
    void proved(boot_clock::time_point sent, bool by_quorum);
    void begin_term(boot_clock::time_point until);
    void lapse();
    void watch_end();
    void tell_late();
    void end_outage();
    void tell_renewed();
    void call_waiting();

    void beat();
    void read();
    void prove(bool by_quorum);
    void lose_patience();
    void note_stall();
    std::string why_not_fit(boot_clock::time_point now) const;

    lease_parts parts_;
    rules::lease_settings settings_;
    std::optional<rules::lease_clock> clock_; ///< of the present session
    mutable std::mutex term_mutex_;           ///< the strand changes the pointer under it
    std::shared_ptr<lease_term> term_;        ///< never null
    bool lapsed_ = true;                      ///< the term is no longer extended
    boot_clock::time_point until_{};          ///< the end of the term, also after it has passed
    boost::intrusive::list<lease_user, boost::intrusive::constant_time_size<false>> users_;
    std::vector<unique_function<void()>> waiting_;
    boot_clock::time_point waiting_since_{}; ///< since the last log line about it, if there was one

    std::atomic<boot_clock::rep> answered_at_{0};
    boot_clock::time_point last_touch_{};     ///< when the newest of the answered requests was sent
    boot_clock::time_point proof_answered_{}; ///< the last one
    boot_clock::duration proof_took_{};       ///< likewise
    boot_clock::duration left_before_proof_{};
    boot_clock::time_point used_since_{}; ///< without a pause
    bool late_told_ = false;              ///< of the present outage
    std::atomic<bool> slow_ = false;      ///< no lock could be granted for a session timeout
    int beats_ = 0;                       ///< of the present connection
    bool reading_ = false;
    std::uint64_t reads_ = 0; ///< the number of the last read; an answer to another one is late
    boot_clock::time_point read_at_{};
    bool silent_ = false; ///< the read was not answered in time
    std::optional<boot_clock::time_point> dropped_at_;
    std::unique_ptr<timer> beat_, end_, patience_;
    boot_clock::time_point beat_due_{}; ///< while `beat_` exists
    boot_clock::time_point end_due_{};  ///< likewise
    boot_clock::duration stall_{};      ///< of the event loop, the last one
    boot_clock::time_point stall_seen_{};
};

} // namespace paddock::detail
