#pragma once

#include "native/calls.hpp"
#include "session/dispatcher.hpp"
#include "support/function.hpp"
#include "support/gauge.hpp"

#include <paddock/error.hpp>
#include <paddock/statistics.hpp>
#include <paddock/watch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::detail {

/// The read that sets a watch; it determines the events that the watch receives.
enum class watch_kind { data, existence, children };

/// All waiters for events, by path. The C client has one watcher, this table, and reports each
/// event of a path to it once. A waiter enters the table before the request that arms its watch is
/// sent, so it cannot miss an event. Strand only.
class watch_table {
public:
    using waiter_id = std::uint64_t; ///< 0: none
    using callback = unique_function<void(error_code, watch_event)>;

    watch_table(dispatcher& requests, std::size_t limit) : dispatcher_(requests), limit_(limit) {}

    /// Whether the limit allows such a watch of the path. On every connection the C client sets all
    /// watches again with one request, which has a list for each kind: the limit is for its bytes.
    bool room_for(std::string_view path, watch_kind kind);

    /// How long a waiter lasts whose read has not set a watch yet.
    enum class unarmed { ends_with_session, outlives_session };

    /// Calls `done` at most once, from within a method of this table. At the empty path a waiter
    /// only waits for the client to close.
    waiter_id add(const std::string& path, watch_kind kind, callback done,
                  unarmed lasts = unarmed::ends_with_session);

    /// Call when a read of the waiter was answered and has set a watch, even if the waiter is gone:
    /// if the path has no waiter left, the watch is removed at the server.
    void armed(const std::string& path, waiter_id id);

    /// Removes the waiter. If it was the path's last one, the watch that is set at the server is
    /// removed; a read in flight that sets another reports it to armed().
    void drop(const std::string& path, waiter_id id);

    void on_event(native::watch_type type, std::string_view path);

    /// Calls the waiters that end with the session: no event will come.
    void end_session(error_code why);

    /// Calls all waiters: no event will come.
    void close(error_code why);

    std::size_t bytes() const noexcept { return bytes_; }
    /// The watched paths, and what they use of the limit; any thread.
    std::size_t watched() const noexcept { return watched_; }
    budget_statistics statistics() const noexcept { return {bytes_, limit_, waits_}; }
    bool half_used() const noexcept { return bytes_ > limit_ / 2; }

private:
    struct waiter {
        watch_kind kind;
        callback done;
        bool ends_with_session;
    };
    /// A kind counts until the path has no waiter: only then its watch is removed.
    struct watched_path {
        std::map<waiter_id, waiter> waiters;
        unsigned kinds = 0; ///< one bit per kind
        unsigned set = 0;   ///< a bit per kind that may be set at the server
    };
    using paths = std::unordered_map<std::string, watched_path>;

    paths::iterator erase(paths::iterator it);
    void remove_at_server(const std::string& path);
    void end_waiters(error_code why, bool all);

    dispatcher& dispatcher_;
    const std::size_t limit_;
    gauge bytes_, watched_;
    gauge waits_; ///< how often there was no room
    bool closed_ = false;
    waiter_id last_id_ = 0;
    paths paths_;
};

} // namespace paddock::detail
