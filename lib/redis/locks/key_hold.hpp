#pragma once

#include "client/hold.hpp"
#include "redis/locks/core.hpp"
#include "redis/rules/votes.hpp"

#include <paddock/recursive_mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::redis::detail {

class key_hold;

/// The keys of a granted lock, which several holds of one owner may share: renews them until the
/// last of them is released, or a quorum has not confirmed them in time. Strand only.
class key_holder final : public held_resource, public std::enable_shared_from_this<key_holder> {
public:
    using time_point = boot_clock::time_point;

    key_holder(std::shared_ptr<core> client, std::shared_ptr<lock_line> line, rules::lock_keys keys,
               std::string value, const rules::votes& votes, const fencing_token& token,
               std::optional<owner> by);
    /// The one that takes over the keys of a released one.
    key_holder(const key_holder& released, std::optional<owner> by);

    /// Another hold of the owner. The first one begins the renewals.
    std::shared_ptr<key_hold> add_hold(const hold_limit& limit,
                                       const std::shared_ptr<const counted_lock>& counted);
    std::shared_ptr<const lease_term> term() const noexcept { return term_; }
    const std::optional<owner>& by() const noexcept { return by_; }
    const std::string& value() const noexcept { return value_; }
    /// A quorum certainly has the keys until then.
    time_point valid_until() const { return votes_.valid_until(); }
    /// Whether a quorum certainly has the keys, and they are not to be released yet.
    bool holds() const noexcept { return !released_ && term_->alive(); }
    /// Whether a hold was lost, and its guard still exists.
    bool has_lost_guards() const noexcept;
    /// The lock was granted, and no call wants it any more.
    void release_unused();
    /// What a server said to a request that sets or prolongs the key.
    void on_answer(int server, const rules::answer& said, time_point sent);
    /// The client is closed: ends the hold, and releases the keys.
    void close(error_code why);

    void release() override;
    void when_deleted(unique_function<void(error_code)> deleted) override;

    /// Completes when a quorum has confirmed the keys from now on, or this hold of them has ended.
    void verify(const key_hold& by, client_call_ptr<> call);
    void end_verifications(const key_hold& by, error_code why);
    /// A hold has lapsed: tells the observer, and the log if the event loop is to blame.
    void explain_lapse();

private:
    time_point late_at() const;
    void tell_late();
    boot_clock::duration note_delay();
    void tick();
    void renew(int server);
    void lose(error_code why);
    void end_holds(error_code why);
    void tell_verified();
    void deleted(error_code why);

    const std::shared_ptr<core> core_;
    const std::shared_ptr<lock_line> line_;
    const rules::lock_keys keys_;
    const std::string value_;
    const fencing_token token_;
    rules::votes votes_;
    std::vector<bool> asked_; ///< servers that are to answer first: a second request waits behind
    std::shared_ptr<lease_term> term_;
    const std::optional<owner> by_;
    std::vector<std::weak_ptr<key_hold>> holds_;
    std::size_t guards_ = 0;                      ///< that are not released
    time_point last_sent_{};                      ///< of the requests that set or prolong a key
    std::shared_ptr<const counted_lock> counted_; ///< of the first hold
    bool late_told_ = false;                      ///< of the present outage
    bool released_ = false;
    bool lost_ = false;
    std::optional<error_code> deleted_;
    std::unique_ptr<timer> timer_;
    time_point due_{};        ///< when it fires
    bool delay_told_ = false; ///< that it is late
    std::vector<unique_function<void(error_code)>> deleted_callbacks_;
    struct verification {
        const key_hold* by;
        time_point since;
        client_call_ptr<> call;
    };
    std::vector<verification> verifications_;
};

/// A hold that keys on Redis servers make.
class key_hold final : public hold {
public:
    key_hold(std::shared_ptr<core> client, std::shared_ptr<key_holder> keys,
             std::shared_ptr<const counted_lock> counted, std::string name,
             const fencing_token& token);

    std::string_view path() const noexcept override { return name_; }
    std::string_view lock_path() const noexcept override { return name_; }
    void start_verify(handler<void(error_code)> h) override;
    void start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                           std::vector<operation> steps) override;
    bool has_transactions() const noexcept override { return false; }

private:
    void on_end() override;

    const std::string name_;
    const std::shared_ptr<key_holder> keys_;
};

} // namespace paddock::redis::detail
