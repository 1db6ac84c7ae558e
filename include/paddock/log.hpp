#pragma once

#include <paddock/detail/cpp20.hpp>

#include <cstddef>
#include <functional>
#include <string_view>

namespace paddock {

/// How much a line of the log matters.
enum class log_level {
    info,    ///< good to know; nothing is wrong any more
    warning, ///< trouble that may go away by itself, or costs only time
    error,   ///< a lock is lost, or somebody has to do something
};

/// What a line of the log is about. The numbers and names do not change; there may be more of them
/// in a later version. Each code has one level.
///
/// What ends the trouble by itself, once its cause has ended: `unreachable`, `silent_server`,
/// `c_client`, `slow_ensemble`, `session_expired`, `lock_lost`, `new_server`, `over_budget`. What a
/// person has to do: restore a name or correct the server list (`unresolved_name`), raise a limit
/// (`no_descriptor`), give rights (`not_permitted`), delete a node or key (`leftover_node`,
/// `foreign_key`), create or correct the root (`no_root`), configure a Redis server or the
/// certificates of TLS (`unsuitable_server`), find out what else was lost (`data_lost`), move to
/// another path (`sequence_exhausted`), or mend the program (`self_wait`, `work_failed`,
/// `loop_stalled`, `two_kinds_of_lock`, `observer_failed`).
enum class log_code : int {
    unresolved_name = 1,    ///< warning: a server's name cannot be resolved
    unreachable = 2,        ///< warning: no server answers, or each refuses the session
    silent_server = 3,      ///< warning: the connected server does not answer
    no_descriptor = 4,      ///< error: no file descriptor is left
    c_client = 5,           ///< warning: what ZooKeeper's C client says about a connection
    slow_ensemble = 6,      ///< warning: the servers answer too late for a lock to be granted
    not_permitted = 7,      ///< error: a right is missing
    sequence_exhausted = 8, ///< warning: half of a directory's sequence numbers are used up
    self_wait = 9,          ///< warning: a caller waits behind a hold of its own client
    work_failed = 10,       ///< error: the work of a leader failed
    foreign_key = 11,       ///< error: another program's key stands for a lock, for ever
    session_expired = 12,   ///< error: the session has expired
    recovered = 13,         ///< info: servers answer again
    lock_lost = 14,         ///< error: a hold has ended before its release
    lock_revoked = 15,      ///< info: a hold has ended because another client asked for it
    loop_stalled = 16,      ///< error: the program's event loop stood still, which cost holds
    leftover_node = 17,     ///< error: a caller waits behind a node that nobody will delete
    two_kinds_of_lock = 18, ///< error: other programs use another kind of lock at the same path
    session_timeout = 19,   ///< info: the servers granted another session timeout
    unsuitable_server = 20, ///< error: a server cannot be used: of Redis, or what TLS says of it
    no_root = 21,           ///< error: the client's root does not exist
    new_server = 22,        ///< warning: a new Redis server grants no lock yet
    data_lost = 23,         ///< error: the session has ended because its servers lost their data
    over_budget = 24,       ///< warning: a lock waits for room in client_budgets
    observer_failed = 25,   ///< error: client_options::observer has thrown an exception
};

/// `info`, `warning`, `error`.
[[gnu::visibility("default")]] std::string_view name_of(log_level level) noexcept;

/// The name of the code, as it stands above; `unknown` for any other number.
[[gnu::visibility("default")]] std::string_view name_of(log_code code) noexcept;

/// One line of the log. The texts are valid during the call only.
struct log_record {
    log_level level{};
    log_code code{};
    /// One line of UTF-8 without its end; control characters, and bytes that are no UTF-8, are
    /// escaped as `\x1b`.
    std::string_view text{};
    /// The path of the lock, with the client's root, or its name on Redis, if the line is about one
    /// lock; else empty.
    std::string_view path{};

    /// So that a log function may take a std::string_view instead of a record.
    operator std::string_view() const noexcept { return text; }
};

/// Receives the lines of a client's log: see client_options::log.
using log_function = std::function<void(const log_record&)>;

} // namespace paddock
