#pragma once

#include "locks/fair/fair_lock.hpp"
#include "queue/lock_queue.hpp"
#include "queue/path_use.hpp"
#include "queue/rules_driver.hpp"
#include "rules/sticky.hpp"
#include "session/lease.hpp"
#include "session/rearming_watch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

class sticky_lines;

/// The driver of rules::sticky: the calls of one client that wait for one sticky lock. One
/// contender of the lock's queue stands for all of them. Strand only.
class sticky_line final : public call_queue,
                          public queue_user,
                          public lease_user,
                          public rules_driver<sticky_line, rules::sticky>,
                          public std::enable_shared_from_this<sticky_line> {
public:
    sticky_line(sticky_lines& lines, std::shared_ptr<const fair_lock> lock);

    /// Whether calls of this lock wait in this line.
    bool serves(const std::shared_ptr<const fair_lock>& lock) const;

    // From the calls.
    rules::contender_key next_key() override { return ++last_key_; }
    /// A line uses only `immediate` of the terms: its contender has those of the lock.
    void join(rules::contender_key key, std::shared_ptr<queue_user> user, entry_terms how) override;
    void quit(rules::contender_key key) override;
    void release(rules::contender_key key, bool passable) override;
    bool known_blocked(rules::contender_key key, rules::role as) const override;

    const std::shared_ptr<lock_queue>& queue() const noexcept { return queue_; }
    const std::string& directory() const noexcept { return lock_->directory; }
    /// Without a contender, so that a free lock is free for all.
    bool idle() const noexcept { return !rules_ || rules_->idle(); }
    /// Without anything that could still concern it.
    bool over() const noexcept { return idle() && !(watch_ && watch_->waiting()); }

    void end_lingering();
    /// The room in the client's budgets has changed.
    void look_at_room();
    void on_suspended();
    void on_closed(error_code why);

    // From the queue.
    void granted(const std::string& path, const fencing_token& token) override;
    void given_up() override;
    void failed(error_code why) override;
    void lost(error_code why) override;
    void revoke_requested() override;

    void on_lapse() override;

private:
    friend rules_driver;
    std::shared_ptr<sticky_line> self() { return shared_from_this(); }
    std::string_view lock_path() const noexcept { return lock_->directory; }
    void update_rules();
    void after_actions();
    using rules_driver::carry_out;
    void carry_out(const rules::sticky_act::join& a);
    void carry_out(const rules::sticky_act::quit& a);
    void carry_out(const rules::sticky_act::release& a);
    void carry_out(const rules::sticky_act::watch& a);
    void carry_out(const rules::sticky_act::keep& a);
    void carry_out(const rules::sticky_act::unkeep& a);
    void carry_out(const rules::sticky_act::grant& a);
    void carry_out(const rules::sticky_act::busy& a);
    void carry_out(const rules::sticky_act::fail& a);

    void listed(std::uint64_t look, watch_table::waiter_id waiter, int code,
                const std::vector<std::string>& names);
    std::shared_ptr<queue_user> take_waiter(rules::contender_key key);

    sticky_lines& lines_;
    const std::shared_ptr<const fair_lock> lock_;
    const std::shared_ptr<lock_queue> queue_;
    path_use use_; ///< while there are waiters, or a holder: not while the lock lingers
    std::unordered_map<rules::contender_key, std::shared_ptr<queue_user>> waiters_;
    rules::contender_key last_key_ = 0;
    rules::contender_key queue_key_ = 0; ///< of the line's contender, in the lock queue
    error_code failure_;                 ///< of the waiters that fail now

    // The granted contender.
    std::string path_;
    fencing_token token_;
    std::shared_ptr<const lease_term> term_; ///< in which it was granted
    rules::contender_key holder_key_ = 0;
    std::shared_ptr<queue_user> holder_;

    std::shared_ptr<rearming_watch> watch_;
    std::uint64_t looks_ = 0; ///< the number of the last listing
    bool unseen_ = false;     ///< the last answered one has not shown the node
    std::unique_ptr<timer> timer_;
    bool timer_armed_ = false;
};

} // namespace paddock::detail
