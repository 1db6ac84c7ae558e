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

} // namespace paddock::rules
