#pragma once

#include "session/gate.hpp"

#include <string>
#include <vector>

namespace paddock::detail {

class core;

/// The code with which a listing was answered, and the names. `directory` as the ensemble knows it.
using listing_answer = unique_function<void(int code, std::vector<std::string> names)>;

/// Asks the server at hand to catch up with the leader: what is read behind it is not older than
/// this. Should it fail, the read behind it says what went wrong.
void catch_up(core& client, const std::string& path);

/// Lists a directory.
void list(core& client, lane which, const std::string& directory, listing_answer done);

/// A barrier and a listing in one flight. The barrier is the delete of a node that cannot exist:
/// its answer is agreed upon by a quorum, so the listing behind it shows the result of every write
/// of this session that the leader had accepted.
void list_after_barrier(core& client, lane which, const std::string& directory,
                        listing_answer done);

} // namespace paddock::detail
