#pragma once

#include <cstdint>
#include <string_view>

namespace paddock::rules {

/// The kinds of requests that locks make.
enum class request_kind { create, list, look, remove };

/// What an answer means for the lock.
enum class outcome {
    done,     ///< executed; for a remove also: the node did not exist
    missing,  ///< the node, or the directory of a create, does not exist
    lost,     ///< the connection was lost: the request may or may not have been executed
    not_sent, ///< certainly not executed; the lock repeats it on the next connection
    later,    ///< certainly not executed; the lock repeats it after a pause
    rarely,   ///< fails until an administrator helps; the lock repeats it
    refused,  ///< will never succeed: the operation fails with the code
};

/// The table of errors for the requests of locks: maps every return code of the C client.
outcome judge(request_kind what, int code) noexcept;

/// Whether a quorum has agreed on a write with this answer: the write was executed, or refused
/// because of the state of the tree.
bool agreed(int code) noexcept;

/// Whether the request failed for lack of a connection, while the session may live on.
bool connection_lost(int code) noexcept;

} // namespace paddock::rules
