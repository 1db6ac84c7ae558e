#include "client/trouble_log.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <syncstream>

namespace paddock::detail {

namespace {

/// The text in one line: an exception's text can have several.
std::string one_line(std::string_view what) {
    std::string line(what);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
}

/// Writes the line in one piece, whatever other threads write, and flushes it.
void write_line(std::string_view what) noexcept {
    try {
        std::osyncstream(std::clog) << "paddock: " + one_line(what) + '\n' << std::flush;
    } catch (...) {
        // There is no other place to report it.
    }
}

} // namespace

/// The C client repeats its messages with each connection attempt, thirty times a second, so the
/// limit applies to them even for the user's log. If the user's log throws, the text goes where it
/// would go without one.
bool trouble_log::write(trouble_kind kind, std::string_view what, boot_clock::time_point now,
                        rules::trouble_limit& limit) noexcept {
    const bool rare = kind == trouble_kind::recovery || limit.allows(kind, now);
    if (user_log_ && kind == trouble_kind::c_client && !rare) return false;
    if (write_to_user(what)) return true;
    if (rare) write_line(what);
    return rare;
}

bool trouble_log::write_to_user(std::string_view what) noexcept {
    if (!user_log_) return false;
    try {
        user_log_(one_line(what));
        return true;
    } catch (...) {
        return false;
    }
}

} // namespace paddock::detail
