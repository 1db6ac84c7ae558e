#pragma once

namespace paddock::detail {

/// Whether invariants are checked: unless it is built for a release; see Meson's option
/// `invariants`.
constexpr bool checks_invariants = PADDOCK_INVARIANTS != 0;

/// Is told of a broken invariant. Writes it to std::clog and aborts the process, unless a test has
/// replaced it.
extern void (*on_broken_invariant)(const char* what) noexcept;

/// The code around it relies on `holds()`, and is wrong if that is false. `holds` has no effects.
template <typename Condition>
void invariant(const char* what, const Condition& holds) {
    if constexpr (checks_invariants)
        if (!holds()) on_broken_invariant(what);
}

} // namespace paddock::detail
