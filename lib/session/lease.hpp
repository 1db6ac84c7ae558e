#pragma once

#include "rules/lease_clock.hpp"
#include "session/dispatcher.hpp"
#include "session/lease_term.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <paddock/options.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

class core;

/// Somebody whose rights end with the lease; in its list for as long as he wants it kept.
class lease_user : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual void on_lapse() = 0; ///< is out of the list when it comes

protected:
    ~lease_user() = default;
};

/// Until when the present session is certainly alive: keeps that known by heartbeats, and tells
/// when it is not any more. Terms follow one another; what was granted in one ends with it. Strand
/// only; the terms' own thread safety is what makes guards cheap to ask.
class lease final : public answer_observer {
public:
    lease(core& session, const lease_options& wishes);

    /// Of whatever is granted now.
    std::shared_ptr<const lease_term> term() const noexcept { return term_; }
    /// Whether there is enough of it left for a new hold.
    bool fit() const noexcept;
    /// Calls back once it is; not at all if the session ends before.
    void when_fit(unique_function<void()> tell);
    /// Keeps it alive for somebody, who has got its present term.
    void keep(lease_user& user);

    void on_connected(bool new_session, boot_clock::time_point handshake,
                      boot_clock::duration timeout);
    void on_suspended();
    /// The session is over, and all terms with it; who has one hears of it elsewhere.
    void end();

    void on_answer(const sighting& seen) override;

private:
    boot_clock::time_point given_up_at() const noexcept;
    void proved(boot_clock::time_point sent, bool by_quorum);
    void begin_term(boot_clock::time_point until);
    void lapse();
    void watch_end();
    void tell_fit();

    void beat();
    void read();
    void prove(bool by_quorum);
    void lose_patience();

    core& core_;
    rules::lease_wishes wishes_;
    std::optional<rules::lease_clock> clock_; ///< of the present session
    std::shared_ptr<lease_term> term_;        ///< never null
    bool lapsed_ = true;                      ///< the term is not extended any more
    boot_clock::time_point until_{};          ///< its end, before somebody found it over
    boost::intrusive::list<lease_user, boost::intrusive::constant_time_size<false>> users_;
    std::vector<unique_function<void()>> waiting_;
    boot_clock::time_point waiting_since_{}; ///< or since somebody was told of it

    boot_clock::time_point last_touch_{}; ///< when the newest of those that were answered was sent
    bool reading_ = false;
    std::uint64_t reads_ = 0; ///< the number of the last one; an answer to another is late
    std::optional<boot_clock::time_point> dropped_at_;
    std::unique_ptr<timer> beat_, end_, patience_;
};

} // namespace paddock::detail
