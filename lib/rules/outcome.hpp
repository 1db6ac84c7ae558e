#pragma once

#include <cstdint>
#include <string_view>

namespace paddock::rules {

/// What a request of a lock was for.
enum class request { create, list, look, remove };

/// What an answer means for the lock that asked.
enum class outcome {
    done,     ///< executed; for a remove also: there was nothing to remove
    missing,  ///< the node, or the directory of a create, is not there
    lost,     ///< the connection is gone: it was executed, or not
    not_sent, ///< certainly not executed, and a new connection will be told
    later,    ///< certainly not executed; worth another try after a pause
    rarely,   ///< an administrator must help: worth a try once a minute
    refused,  ///< will never succeed: the operation fails with the code
};

/// The one table of errors: every return code of the C client, for every kind of request.
outcome judge(request what, int code) noexcept;

/// Whether a quorum has agreed on a write with this answer: it was executed, or refused for what
/// the tree has in it.
bool agreed(int code) noexcept;

/// Whether the connection was lost, or not there, but the session may live on.
bool connection_lost(int code) noexcept;

} // namespace paddock::rules
