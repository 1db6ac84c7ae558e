#pragma once

#include "rules/claims.hpp"
#include "session/dispatcher.hpp"

#include <string>
#include <vector>

namespace paddock::detail {

/// The code that answers a listing, and the children's names.
using listing_answer = unique_function<void(int code, std::vector<std::string> names)>;

/// Lists a directory, with a watch if `watch` is set. `directory` begins with the client's root.
void list(dispatcher& to, lane which, const std::string& directory, listing_answer done,
          bool watch = false);

/// Sends a barrier and a listing, without waiting in between. The barrier is the delete of a node
/// that cannot exist: a quorum agrees on its answer, so the listing behind it shows the result of
/// every earlier write of this session that the leader had accepted.
void list_after_barrier(dispatcher& to, const rules::claims& ids, lane which,
                        const std::string& directory, listing_answer done, bool watch = false);

/// Lets the server catch up with the leader before it answers the next request, whose answer also
/// reports a lost connection.
void catch_up(dispatcher& to, lane which, const std::string& path);

} // namespace paddock::detail
