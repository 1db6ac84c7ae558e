#pragma once

#include "support/printable.hpp"

#include <paddock/error.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace paddock {

/// The exception that a constructor throws for an invalid argument.
inline bad_argument_error bad_argument(std::string_view name, std::string_view why) {
    return bad_argument_error(printable(std::string(name) + ' ' + std::string(why)));
}

inline bad_argument_error bad_argument(std::string_view name, std::string_view value,
                                       std::string_view why) {
    return bad_argument(std::string(name) + " '" + std::string(value) + '\'', why);
}

/// The id of paddock_category(); the same in every copy of the library.
inline constexpr boost::ulong_long_type paddock_category_id = 0x9f2d'7a41'c36e'58b0;

/// The code with which an operation completes that refuses an argument: it equals
/// errc::bad_argument, and its message() has the name and the reason. The library keeps every text
/// until the process ends, so that both must come from a few: nothing in them may depend on values.
error_code refused_argument(std::string_view name, std::string_view why) noexcept;

/// Whether a value of an enumeration that counts from zero is one of its enumerators.
template <typename Enum>
constexpr bool is_enumerator(Enum value, Enum last) noexcept {
    const auto number = [](Enum e) { return static_cast<std::underlying_type_t<Enum>>(e); };
    return number(value) >= 0 && number(value) <= number(last);
}

template <typename Enum>
void check_enumerator(std::string_view name, Enum value, Enum last) {
    if (!is_enumerator(value, last)) throw bad_argument(name, "is none of its enumerators");
}

/// The argument `executor` of a constructor.
template <typename Executor>
const Executor& checked(const Executor& executor) {
    if (!executor) throw bad_argument("executor", "is empty: it may be that of an empty object");
    return executor;
}

} // namespace paddock
