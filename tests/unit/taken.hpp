#pragma once

#include <vector>

namespace paddock::test {

/// The actions that the rules want now.
template <typename Rules>
std::vector<typename Rules::action> taken(Rules& rules) {
    std::vector<typename Rules::action> actions;
    rules.take(actions);
    return actions;
}

} // namespace paddock::test
