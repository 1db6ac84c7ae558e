#include "support/invariant.hpp"

#include <cstdlib>
#include <iostream>

namespace paddock::detail {

namespace {
void abort_with(const char* what) noexcept {
    try {
        std::clog << "paddock: a broken invariant: " << what << std::endl;
    } catch (...) {
        // There is no other place to report it.
    }
    std::abort();
}
} // namespace

void (*on_broken_invariant)(const char* what) noexcept = abort_with;

} // namespace paddock::detail
