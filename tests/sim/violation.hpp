#pragma once

#include <stdexcept>
#include <string>

namespace paddock::test::sim {

/// A promise was broken.
struct violation : std::runtime_error {
    using runtime_error::runtime_error;
};

inline void must(bool condition, const std::string& what) {
    if (!condition) throw violation(what);
}

} // namespace paddock::test::sim
