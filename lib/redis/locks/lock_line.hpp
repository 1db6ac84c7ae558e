#pragma once

#include "redis/rules/attempt.hpp"
#include "redis/rules/obstacle.hpp"
#include "redis/rules/pace.hpp"
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

/// The calls of one client that wait for one lock, in their order. One attempt at a time is made on
/// behalf of the first. Strand only.
class lock_line final : public std::enable_shared_from_this<lock_line> {
public:
    using time_point = boot_clock::time_point;

    lock_line(core& client, const std::string& name);

    void join(std::shared_ptr<line_call> call);
    /// A call was completed otherwise.
    void leave(const line_call& call);
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
    enum class stage {
        idle,
        queued, ///< until one more attempt of this client may begin
        attempting,
        sleeping, ///< until a release, a server that is back, or the time of the next attempt
        racing,   ///< has heard of a release, as others have
        yielding, ///< other clients may have the lock first
    };

    bool has_lost_guards(owner by) const;
    void proceed();
    void attempt_now();
    void carry_out(const rules::attempt::requests& what);
    void send(int server, rules::script which);
    void on_answer(int server, const std::optional<rules::answer>& said, time_point sent);
    void give_up();
    void release(const rules::attempt::requests& last);
    void conclude();
    void grant();
    void give(const std::shared_ptr<key_holder>& holder);
    void refused();
    void complain_about_spoilt_keys() const;
    void complain_about_endless_key();
    void fail_calls(error_code why);
    void fail_all(error_code why);
    void sleep(boot_clock::duration time, stage how);
    boot_clock::duration rest_for_others();
    void wake(bool one_first);
    void race();
    bool released_meanwhile() const;
    void listen();
    void rest_if_unused();
    void arm(boot_clock::duration time, void (lock_line::*what)());
    bool hears() const;
    boot_clock::duration patience() const;
    void on_slow_server();
    void on_slow_attempt();
    void on_slept();
    void on_unused();

    core& core_;
    const rules::lock_keys keys_;
    std::map<std::uint64_t, std::shared_ptr<line_call>> calls_; ///< by their numbers; all are open
    std::uint64_t last_call_ = 0;
    std::weak_ptr<key_holder> holder_;            ///< of the latest grant
    std::vector<std::weak_ptr<key_holder>> lost_; ///< with guards that are not released
    time_point kept_since_{};                     ///< these keys
    stage stage_ = stage::idle;
    paddock::detail::budget::waiter_id turn_ = 0; ///< that is waited for
    rules::pace pace_;
    std::optional<rules::attempt> attempt_;
    std::uint64_t attempts_ = 0; ///< the number of this attempt
    std::string value_;          ///< of this attempt
    std::string released_;       ///< the value of our latest release
    time_point sleeps_until_{};
    std::vector<bool> subscribed_; ///< the servers whose messages arrive
    std::vector<bool> heard_;      ///< the servers that told of a release during this attempt
    bool one_first_next_ = false;
    bool listens_ = false;
    bool endless_key_told_ = false;
    std::optional<rules::obstacle> obstacle_; ///< of the latest attempt, if it failed
    int grants_in_a_row_ = 0;
    int releases_ = 0;           ///< that are not confirmed
    bool others_listen_ = false; ///< other clients wait for the lock, or have done so lately
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::redis::detail
