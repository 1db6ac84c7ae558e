#pragma once

#include "session/dispatcher.hpp"

#include <string>
#include <vector>

namespace paddock::detail {

class core;

/// The code with which a listing was answered, and the names. `directory` as the ensemble knows it.
using listing_answer = unique_function<void(int code, std::vector<std::string> names)>;

/// Lists a directory; if that is wanted, with a watch.
void list(core& client, lane which, const std::string& directory, listing_answer done,
          bool watch = false);

/// A barrier and a listing in one flight. The barrier is the delete of a node that cannot exist:
/// its answer is agreed upon by a quorum, so the listing behind it shows the result of every write
/// of this session that the leader had accepted.
void list_after_barrier(core& client, lane which, const std::string& directory, listing_answer done,
                        bool watch = false);

/// Has the server at hand catch up with the leader, before it answers what is asked next; that
/// answer also says what went wrong.
void catch_up(core& client, lane which, const std::string& path);

} // namespace paddock::detail
