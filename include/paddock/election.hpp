#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/detail/lead.hpp>
#include <paddock/detail/time_limit.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct fair_lock;
}

class [[gnu::visibility("default")]] election;

/// The election of a leader among all processes that use the same ensemble and path. Candidates
/// queue in the order of their sequence numbers. The first one leads until it resigns or loses its
/// hold; then the next in order leads. Node names and data are those of Curator's LeaderLatch,
/// which takes part in the same election.
///
/// **Operations**: campaign(), try_campaign(), try_campaign_for() and try_campaign_until() for the
/// lock(), try_lock() and so on of a lock; lead(); those that follow the leadership; and revoke()
/// and kick().
///
/// Executor, lifetime, thread safety of all operations: see lockable.
class election {
public:
    /// Creates the object; does no I/O. `path` is the election's directory, below the client's
    /// root, with at most 512 bytes; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, id or access control
    /// list that is not acceptable.
    election(const client& zk, std::string_view path, election_options options);
    /// As above, with the default options: an empty id.
    election(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    election(const client&&, std::string_view, election_options) = delete;
    election(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// Waits for leadership. The guard is the leadership: guard::lost() reports its end;
    /// guard::unlock() or the guard's destructor resigns. Leadership belongs to one session: a
    /// leader whose session has expired leads no more, whatever node it finds.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors: those of mutex::lock(). Cancellation safety: as lockable::lock(). A cancelled
    /// candidate leaves the election.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto campaign(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_campaign, impl_);
    }

    /// Takes the leadership if there is no other participant; otherwise completes with an empty
    /// guard.
    ///
    /// Everything else: as lockable::try_lock().
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_campaign(Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_campaign, impl_);
    }

    /// Waits for leadership for at most `limit`.
    ///
    /// Everything else: as lockable::try_lock_for().
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_campaign_for(const std::chrono::duration<Rep, Period>& limit,
                                        Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_campaign_for, impl_,
                                                         detail::limit_of(limit));
    }

    /// As try_campaign_for(), with a point in time of any clock. A later change of that clock's
    /// time has no effect.
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto try_campaign_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                          Token&& token = {}) const {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_try_campaign_for, impl_,
                                                         detail::until{deadline});
    }

    /// Leads again and again: campaigns, runs `work(guard&)` (or `work()`) while it leads, resigns,
    /// waits until its node is deleted, and campaigns again.
    ///
    ///     const auto work = [&](paddock::guard& leadership) -> asio::awaitable<void> { … };
    ///     co_await votes.lead(work); // named: see lockable::with()
    ///
    /// It ends when `work` returns `after_term::stop`, when it is cancelled, or when campaign()
    /// fails; work that returns nothing, or `after_term::campaign`, leads again. When the
    /// leadership is lost, lead() cancels the work, as guard::run() does, and says so in the
    /// client's log. An exception of the work ends the term and not lead(): the log has its text.
    /// After a term of less than a second lead() pauses before it campaigns again: at first for 100
    /// ms, and twice as long each time, up to 10 seconds, less a random part.
    ///
    /// Errors: those of campaign(); `asio::error::operation_aborted`, or the exception of the work,
    /// after a cancellation; `errc::bad_argument` for an empty function.
    ///
    /// Cancellation safety: as campaign() before the leadership; as guard::run() while the work
    /// runs, and lead() then waits until it has resigned. Work that wants to know why it was
    /// cancelled awaits `this_coro::reset_cancellation_state(enable_total_cancellation())`, both of
    /// Asio, and then guard::lost().
    ///
    /// Executor: that of the coroutine that awaits lead(), for the work, too. With several threads
    /// use a strand.
    ///
    /// Lifetime: lead() keeps the callable; see the class. Thread safety: see the class.
    template <typename Work>
    [[nodiscard]] asio::awaitable<void> lead(Work work) const {
        return detail::lead(*this, make_pace(), std::move(work));
    }

    /// Changes the id that others see of this leader (election_options::id) while it leads: writes
    /// the data of its node. A wait with next_leader() does not end by that. A later campaign()
    /// begins with the id of the options. A request to release that comes in the same moment can be
    /// overwritten: then revoke() again.
    ///
    /// Completion signature: `void(error_code)`.
    ///
    /// Errors: `errc::lock_lost`; `errc::outcome_unknown`; the `zk_errc` of a refusal;
    /// `errc::closed`; `errc::auth_failed`; `errc::bad_argument` for an id that is not acceptable
    /// in the options, and for a guard that is empty or of another lock.
    ///
    /// Cancellation safety: total and terminal; the ensemble still executes a change that the
    /// client has sent.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto set_id(const guard& leadership, std::string id, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(
            get_executor(), std::forward<Token>(token), &start_set_id, impl_,
            detail::access::hold_of(leadership), std::move(id));
    }

    /// Reads which participant leads: `contender::data` is its id, `contender::token` the fencing
    /// token of its leadership. Nothing if there is no participant. One burst of reads.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto leader(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_leader, impl_);
    }

    /// Lists all participants: the leader first, then the others in the order in which they would
    /// follow.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`.
    ///
    /// Errors, cancellation safety, executor, lifetime, thread safety: as leader().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto participants(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_participants, impl_);
    }

    /// Follows the leadership without taking part: waits until the leader is another than the one
    /// with this fencing token (a token of zero stands for none), and returns the leader. The
    /// operation does not report leaderships that came and went between two calls. It costs one
    /// watch.
    ///
    ///     std::optional<contender> now = co_await votes.next_leader({});
    ///     for (;;) now = co_await votes.next_leader(now ? now->token : fencing_token());
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`.
    ///
    /// Errors: those of leader(), and `errc::over_budget` when client_budgets::watched_path_bytes
    /// has no room for the watch.
    ///
    /// Cancellation safety, executor, lifetime, thread safety: as leader().
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto next_leader(fencing_token seen, Token&& token = {}) const {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_next_leader, impl_, seen);
    }

    /// Requests that a participant, the leader above all, leave: see mutex::revoke(). A leader
    /// hears of it by guard::revoke_requested; with election_options::revocable its leadership
    /// ends, and the next in order leads once it has resigned. A candidate hears of it when it
    /// leads. The request overwrites the participant's id, which its client then writes back.
    /// (Curator's LeaderLatch does not know such requests: it keeps the leadership, and its id is
    /// lost.)
    ///
    ///     auto leader = co_await votes.leader();
    ///     if (leader) co_await votes.revoke(*leader); // before the leader's host is updated
    ///
    /// Everything else: as mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::move(target));
    }

    /// Deletes a participant's node by force: see mutex::kick(). A candidate campaigns again, at
    /// the end; a leader leads no more, and works on until its client learns of that.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    using hold_ptr = std::shared_ptr<detail::hold>;

    detail::pace_ptr make_pace() const;

    static void start_campaign(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_campaign(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_campaign_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                       std::chrono::nanoseconds);
    static void start_set_id(detail::handler<void(error_code)>, impl_ptr, hold_ptr, std::string);
    static void start_leader(detail::handler<void(error_code, std::optional<contender>)>, impl_ptr);
    static void start_participants(detail::handler<void(error_code, std::vector<contender>)>,
                                   impl_ptr);
    static void start_next_leader(detail::handler<void(error_code, std::optional<contender>)>,
                                  impl_ptr, fencing_token);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, contender);

    impl_ptr impl_;
};

} // namespace paddock
