#include "client/hold_limit.hpp"

#include "support/argument.hpp"

#include <chrono>
#include <string>

namespace paddock::detail {

void check_hold_limit(std::string_view options, const hold_limit& limit) {
    const auto check = [options](std::string_view member, std::chrono::milliseconds time) {
        if (time.count() < 0)
            throw bad_argument(std::string(options) + "::hold_limit." + std::string(member),
                               "is negative");
        constexpr auto year = std::chrono::hours(24 * 365);
        if (time > year) // two of them, added to any clock, overflow nothing
            throw bad_argument(std::string(options) + "::hold_limit." + std::string(member),
                               "is longer than a year");
    };
    check("longest", limit.longest);
    check("grace", limit.grace);
    if (limit.grace.count() > 0 && limit.longest.count() == 0)
        throw bad_argument(std::string(options) + "::hold_limit.grace",
                           "requires hold_limit.longest");
}

} // namespace paddock::detail
