#pragma once

#include <paddock/error.hpp>

#include <string>
#include <string_view>

namespace paddock {

/// What a constructor throws for an argument that it does not take.
inline system_error bad_argument(std::string_view name, std::string_view why) {
    return {errc::bad_argument, std::string(name) + ' ' + std::string(why)};
}

inline system_error bad_argument(std::string_view name, std::string_view value,
                                 std::string_view why) {
    return bad_argument(std::string(name) + " '" + std::string(value) + '\'', why);
}

} // namespace paddock
