#pragma once

#include <string_view>

namespace paddock::test {

/// Bugs are planted into copies of the library's sources, to see that a test catches them: the
/// patches in `plants` ask whether theirs is the one that the program has been told.
inline std::string_view chosen_plant;

inline bool planted(std::string_view bug) { return bug == chosen_plant; }

} // namespace paddock::test
