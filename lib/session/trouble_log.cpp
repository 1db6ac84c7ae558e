#include "session/trouble_log.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <syncstream>

namespace paddock::detail {

namespace {

/// Whole, whatever other threads write there, and at once.
void write_line(std::string_view what) noexcept {
    try {
        std::string line = "paddock: ";
        line += what;
        std::replace_if(
            line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
        std::osyncstream(std::clog) << line << '\n' << std::flush;
    } catch (...) {
        // There is no other place to say it.
    }
}

} // namespace

/// The C client says the same with each attempt, thirty times in a second: even a log of the user
/// is not told of all that. What a log of the user has thrown at is written as if there were none.
void trouble_log::tell(trouble_kind kind, std::string_view what,
                       boot_clock::time_point now) noexcept {
    const bool rare = limit_.allows(kind, now);
    if (of_user_ && kind == trouble_kind::c_client && !rare) return;
    if (tell_user(what)) return;
    if (rare) write_line(what);
}

bool trouble_log::tell_user(std::string_view what) noexcept {
    if (!of_user_) return false;
    try {
        of_user_(what);
        return true;
    } catch (...) {
        return false;
    }
}

} // namespace paddock::detail
