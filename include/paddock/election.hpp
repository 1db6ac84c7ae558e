#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/options.hpp>

#include <memory>
#include <optional>
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
/// **For all operations**
///
/// Executor: an operation completes on the handler's associated executor, by default on the
/// client's.
///
/// Lifetime: a program may destroy the election and its client while operations are pending and
/// guards hold the leadership. The operations of a destroyed client complete with `errc::closed`.
///
/// Thread safety: any thread may call any operation at any time.
class election {
public:
    /// Creates the object; does no I/O. `path` is the election's directory, below the client's
    /// root; the first operation that needs missing parents creates them.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, id or access control
    /// list that is not acceptable.
    election(const client& zk, std::string_view path, election_options options);
    /// As above, with the default options: an empty id.
    election(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for leadership. The guard is the leadership: guard::lost() reports its end;
    /// guard::unlock() or the guard's destructor resigns. Leadership belongs to one session: a
    /// leader whose session has expired leads no more, whatever node it finds.
    ///
    /// Completion signature: `void(error_code, guard)`.
    ///
    /// Errors and cancellation safety: as mutex::lock(). A cancelled candidate leaves the election.
    ///
    /// Executor, lifetime, thread safety: see the class.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto campaign(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_campaign, impl_);
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
    [[nodiscard]] auto leader(Token&& token = {}) {
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
    [[nodiscard]] auto participants(Token&& token = {}) {
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
    [[nodiscard]] auto next_leader(fencing_token seen, Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_next_leader, impl_, seen);
    }

private:
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;

    static void start_campaign(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_leader(detail::handler<void(error_code, std::optional<contender>)>, impl_ptr);
    static void start_participants(detail::handler<void(error_code, std::vector<contender>)>,
                                   impl_ptr);
    static void start_next_leader(detail::handler<void(error_code, std::optional<contender>)>,
                                  impl_ptr, fencing_token);

    impl_ptr impl_;
};

} // namespace paddock
