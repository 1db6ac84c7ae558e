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
struct line_lock;
}

/// The election of a leader among all processes that use the same ensemble and path. Who campaigns
/// queues; who is first leads, until it resigns or is lost; then the next in order does. Node names
/// and data are those of Curator's LeaderLatch, which takes part in the same election.
///
/// Completions come on the handler's associated executor, by default on the client's.
/// Lifetime and thread safety: as mutex.
class election {
public:
    /// Does no I/O. `path` is the election's directory, below the client's root; missing parents
    /// are created when they are needed. Throws `system_error` with `errc::bad_argument` for a path
    /// or id that is not acceptable.
    election(const client& zk, std::string_view path, election_options options);
    /// With the default options: an empty id.
    election(const client& zk, std::string_view path);

    asio::any_io_executor get_executor() const;

    /// Waits for leadership. Its guard is the leadership: guard::lost tells of its end, and
    /// guard::unlock, or the guard's end, resigns. Leadership belongs to one session: a leader
    /// whose session has expired is none, whatever node it finds.
    ///
    /// Completion signature: `void(error_code, guard)`. Errors and cancellation safety: as
    /// mutex::lock; who cancels does not take part any more.
    template <asio::completion_token_for<void(error_code, guard)> Token = default_token>
    [[nodiscard]] auto campaign(Token&& token = {}) {
        return detail::initiate<void(error_code, guard)>(get_executor(), std::forward<Token>(token),
                                                         &start_campaign, impl_);
    }

    /// Who leads: `contender::data` is the id, `contender::token` the fencing token of that
    /// leadership. Nothing if nobody takes part. One burst of reads.
    ///
    /// Completion signature: `void(error_code, std::optional<contender>)`. Errors: `zk_errc`,
    /// `errc::closed`. Cancellation safety: total and terminal.
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto leader(Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_leader, impl_);
    }

    /// Everybody who takes part, the leader first, then those who would follow, in their order.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`. Errors and cancellation
    /// safety: as leader().
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto participants(Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_participants, impl_);
    }

    /// Follows the leadership without taking part: waits until the leader is another than the one
    /// with this fencing token (none: a token of zero), and says who. Leaderships that came and
    /// went between two calls are not told. Costs one watch.
    ///
    ///     std::optional<contender> now = co_await votes.next_leader({});
    ///     for (;;) now = co_await votes.next_leader(now ? now->token : fencing_token());
    ///
    /// Completion signature, errors and cancellation safety: as leader().
    template <asio::completion_token_for<void(error_code, std::optional<contender>)> Token =
                  default_token>
    [[nodiscard]] auto next_leader(fencing_token seen, Token&& token = {}) {
        return detail::initiate<void(error_code, std::optional<contender>)>(
            get_executor(), std::forward<Token>(token), &start_next_leader, impl_, seen);
    }

private:
    using impl_ptr = std::shared_ptr<const detail::line_lock>;

    static void start_campaign(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_leader(detail::handler<void(error_code, std::optional<contender>)>, impl_ptr);
    static void start_participants(detail::handler<void(error_code, std::vector<contender>)>,
                                   impl_ptr);
    static void start_next_leader(detail::handler<void(error_code, std::optional<contender>)>,
                                  impl_ptr, fencing_token);

    impl_ptr impl_;
};

} // namespace paddock
