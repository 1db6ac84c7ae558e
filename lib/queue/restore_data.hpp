#pragma once

#include "session/core.hpp"
#include "session/request.hpp"

namespace paddock::detail {

/// Writes the data of an own node again, which a request to release has overwritten: sends `what`,
/// again if its answer is lost. Any other answer ends it: the node has changed once more, which its
/// watch reports, or is gone, or its access control list does not let this client write. Strand
/// only.
void restore_data(core& client, request what);

} // namespace paddock::detail
