#pragma once

#include "redis/rules/attempt.hpp"
#include "redis/rules/line.hpp"
#include "redis/rules/scripts.hpp"
#include "support/budget.hpp"
#include "support/environment.hpp"

#include <paddock/error.hpp>
#include <paddock/recursive_mutex.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::redis::detail {

class core;
class key_holder;
class line_call;

/// The calls of one client that wait for one lock, in their order, and what sends the requests for
/// them: rules::line decides when. Strand only.
class lock_line final : public std::enable_shared_from_this<lock_line> {
public:
    using time_point = boot_clock::time_point;

    lock_line(core& client, const std::string& name);

    void join(std::shared_ptr<line_call> call);
    /// A call was completed otherwise.
    void leave(const line_call& call);
    bool held_by(owner who) const;
    /// Whether another hold has the lock, according to the latest information; without any, whether
    /// the servers are there to say so.
    bool may_be_taken() const;
    /// Fails all calls, and ends the hold.
    void close(error_code why);

    // From the client.
    /// A hold with this value has released the lock on this server.
    void on_message(int server, const std::string& value);
    /// From now on there are messages; the lock may have been released before.
    void on_subscribed(int server);
    /// From now on there are none.
    void on_unsubscribed(int server);
    void on_reachable(int server);
    /// A server must not be used; perhaps too few are left.
    void on_refused();

    // From the holder.
    /// No guard has it any more: gives its keys to the next call, without a request, if that may
    /// be.
    bool pass_on(const key_holder& released);
    /// Its keys are being released, until release_ended().
    void release_begins(const key_holder& of);
    /// Its keys are not ours any more: they are being released, or lost.
    void hold_ended(const key_holder& of);
    /// So many clients, this one included, heard of the release.
    void release_ended(std::int64_t listeners);

private:
    using action = rules::line::action;

    bool has_lost_guards(owner by) const;
    rules::line& updated_rules();
    template <typename Event, typename... Args>
    void report(Event event, const Args&... args);
    void carry_out(const action& what);
    void take_turn();
    void start_attempt(bool one_first);
    bool attempting() const;
    void carry_out(const rules::attempt::requests& what);
    void send(int server, rules::script which);
    void on_answer(int server, const std::optional<rules::answer>& said, time_point sent);
    void release(const rules::attempt::requests& last);
    void conclude();
    void grant();
    void give(const std::shared_ptr<key_holder>& holder);
    void turn_first_away();
    void fail_calls(error_code why);
    void complain_about_spoilt_keys() const;
    void complain_about_endless_key();
    void set_timer(time_point until);

    core& core_;
    const rules::lock_keys keys_;
    std::map<std::uint64_t, std::shared_ptr<line_call>> calls_; ///< by their numbers; all are open
    std::uint64_t last_call_ = 0;
    std::weak_ptr<key_holder> holder_;            ///< of the latest grant
    std::vector<std::weak_ptr<key_holder>> lost_; ///< with guards that are not released
    rules::line rules_;
    paddock::detail::budget::waiter_id turn_ = 0; ///< that is waited for
    std::optional<rules::attempt> attempt_;
    std::uint64_t attempts_ = 0; ///< the number of this attempt
    std::string value_;          ///< of this attempt
    std::string released_;       ///< the value of our latest release
    bool endless_key_told_ = false;
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::redis::detail
