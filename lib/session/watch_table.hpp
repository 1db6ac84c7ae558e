#pragma once

#include "native/calls.hpp"
#include "session/dispatcher.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>
#include <paddock/watch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::detail {

/// What a watch was set with; it decides which events it hears.
enum class watch_kind { data, existence, children };

/// Everybody who waits for an event at a path. The C client knows one watcher only, this table,
/// which it tells of each path once. A waiter is in the table before the request that arms its
/// watch is sent, so no event can pass it by. Strand only.
class watch_table {
public:
    using waiter = std::uint64_t; ///< 0: nobody
    using told = unique_function<void(error_code, watch_event)>;

    watch_table(dispatcher& way, std::size_t limit) : dispatcher_(way), limit_(limit) {}

    /// Whether the path can be watched so within the limit. On every connection the C client asks
    /// for all watches in one request, which has a list for each kind: the limit is for its bytes.
    bool room_for(std::string_view path, watch_kind kind) const;

    /// `tell` is called at most once, from within a method of this table. A waiter that is not
    /// armed yet outlives the session; at the empty path it only waits for the end of the client.
    waiter add(const std::string& path, watch_kind kind, told tell, bool armed = true);

    /// The waiter's request was answered, and has set a watch. If nobody wants it any more the
    /// ensemble is told.
    void armed(const std::string& path, waiter which);

    /// The waiter's request failed in a way that sets no watch.
    void not_armed(const std::string& path, waiter which);

    /// The waiter lost interest. The ensemble is told when it was the last at the path.
    void drop(const std::string& path, waiter which);

    void on_event(native::watch_type type, std::string_view path);

    /// Tells everybody whose watch was armed that no event will come.
    void end_session(error_code why);

    /// Tells everybody.
    void close(error_code why);

    std::size_t bytes() const noexcept { return bytes_; }

private:
    struct entry {
        watch_kind kind;
        told tell;
        bool armed;
    };
    /// A kind counts until nobody waits at the path any more: only then its watch is taken away.
    struct watched_path {
        std::map<waiter, entry> waiters;
        unsigned kinds = 0; ///< a bit for each
    };
    using paths = std::unordered_map<std::string, watched_path>;

    paths::iterator erase(paths::iterator it);
    bool forget(const std::string& path, waiter which); ///< whether it was the last at the path
    void remove_at_server(const std::string& path);
    void tell_the_end(error_code why, bool everybody);

    dispatcher& dispatcher_;
    std::size_t limit_;
    std::size_t bytes_ = 0;
    waiter last_ = 0;
    paths paths_;
};

} // namespace paddock::detail
