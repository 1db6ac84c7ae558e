#include "client/trouble_log.hpp"

#include "support/printable.hpp"

#include <cstdint>
#include <string>

namespace paddock::detail {

namespace {

std::string left_out_text(std::uint64_t lines) {
    if (lines == 0) return {};
    return " (" + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
           " about this left out)";
}

} // namespace

bool trouble_log::write(log_code code, std::string_view text, boot_clock::time_point now,
                        std::string_view path, rules::log_limit& limit) noexcept {
    try {
        // One server of several must not hide what is wrong with another one.
        const auto about = code == log_code::unsuitable_server ? text : path;
        const auto left_out = limit.allows(code, about, now);
        if (!left_out) return false;
        write_now(code, std::string(text) + left_out_text(*left_out), path);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void trouble_log::write_now(log_code code, std::string_view text, std::string_view path) noexcept {
    try {
        const auto line = printable(text), lock = printable(path);
        observers_.trouble({level_of(code), code, line, lock});
    } catch (const std::bad_alloc&) {
        // There is no memory for the line.
    }
}

void trouble_log::write_recovery(std::string_view text, rules::outage& over,
                                 boot_clock::time_point now, rules::log_limit& limit) noexcept {
    const auto was = over.end(now);
    if (!was) return;
    for (const auto code : {log_code::unresolved_name, log_code::unreachable,
                            log_code::silent_server, log_code::no_descriptor, log_code::c_client})
        limit.end(code);
    try {
        write_now(log_code::recovered, std::string(text) + " after " + in_words(was->lasted) +
                                           left_out_text(was->left_out));
    } catch (const std::bad_alloc&) {
        // As above.
    }
}

} // namespace paddock::detail
