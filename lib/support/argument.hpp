#pragma once

#include "support/printable.hpp"

#include <paddock/error.hpp>

#include <string>
#include <string_view>

namespace paddock {

/// The exception that a constructor throws for an invalid argument.
inline bad_argument_error bad_argument(std::string_view name, std::string_view why) {
    return bad_argument_error(printable(std::string(name) + ' ' + std::string(why)));
}

inline bad_argument_error bad_argument(std::string_view name, std::string_view value,
                                       std::string_view why) {
    return bad_argument(std::string(name) + " '" + std::string(value) + '\'', why);
}

/// The argument `executor` of a constructor.
template <typename Executor>
const Executor& checked(const Executor& executor) {
    if (!executor) throw bad_argument("executor", "is empty: it may be that of an empty object");
    return executor;
}

} // namespace paddock
