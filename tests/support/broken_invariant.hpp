#pragma once

#include "support/invariant.hpp"

#include <string>
#include <utility>

namespace paddock::test {

namespace inside {
inline std::string first_broken_invariant;

inline void note_broken_invariant(const char* what) noexcept {
    if (first_broken_invariant.empty()) first_broken_invariant = what;
}
inline const bool notes_broken_invariants =
    (detail::on_broken_invariant = note_broken_invariant, true);
} // namespace inside

/// The first invariant that the library has found broken since the last call; empty if there is
/// none. In a program that includes this the library notes them instead of aborting.
inline std::string take_broken_invariant() {
    return std::exchange(inside::first_broken_invariant, {});
}

} // namespace paddock::test
