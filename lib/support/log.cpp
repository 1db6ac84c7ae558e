#include "support/log.hpp"

#include <cstdio>

namespace paddock {

std::string_view name_of(log_level level) noexcept {
    switch (level) {
    case log_level::info:
        return "info";
    case log_level::warning:
        return "warning";
    case log_level::error:
        return "error";
    }
    return "unknown";
}

std::string_view name_of(log_code code) noexcept {
    switch (code) {
    case log_code::unresolved_name:
        return "unresolved_name";
    case log_code::unreachable:
        return "unreachable";
    case log_code::silent_server:
        return "silent_server";
    case log_code::no_descriptor:
        return "no_descriptor";
    case log_code::c_client:
        return "c_client";
    case log_code::slow_ensemble:
        return "slow_ensemble";
    case log_code::not_permitted:
        return "not_permitted";
    case log_code::sequence_exhausted:
        return "sequence_exhausted";
    case log_code::self_wait:
        return "self_wait";
    case log_code::work_failed:
        return "work_failed";
    case log_code::foreign_key:
        return "foreign_key";
    case log_code::session_expired:
        return "session_expired";
    case log_code::recovered:
        return "recovered";
    case log_code::lock_lost:
        return "lock_lost";
    case log_code::lock_revoked:
        return "lock_revoked";
    case log_code::loop_stalled:
        return "loop_stalled";
    case log_code::leftover_node:
        return "leftover_node";
    case log_code::two_kinds_of_lock:
        return "two_kinds_of_lock";
    case log_code::session_timeout:
        return "session_timeout";
    case log_code::unsuitable_server:
        return "unsuitable_server";
    case log_code::no_root:
        return "no_root";
    case log_code::new_server:
        return "new_server";
    case log_code::data_lost:
        return "data_lost";
    case log_code::over_budget:
        return "over_budget";
    case log_code::observer_failed:
        return "observer_failed";
    }
    return "unknown";
}

log_level level_of(log_code code) noexcept {
    switch (code) {
    case log_code::recovered:
    case log_code::lock_revoked:
    case log_code::session_timeout:
        return log_level::info;
    case log_code::unresolved_name:
    case log_code::unreachable:
    case log_code::silent_server:
    case log_code::c_client:
    case log_code::slow_ensemble:
    case log_code::sequence_exhausted:
    case log_code::self_wait:
    case log_code::new_server:
    case log_code::over_budget:
        return log_level::warning;
    default:
        return log_level::error;
    }
}

std::string in_words(boot_clock::duration time) {
    const auto tenths = std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(time);
    const auto seconds = std::chrono::round<std::chrono::seconds>(time);
    const auto minutes = std::chrono::round<std::chrono::minutes>(time);
    if (tenths.count() < 1)
        return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
    if (tenths.count() < 100)
        return std::to_string(tenths.count() / 10) + '.' + std::to_string(tenths.count() % 10) +
               " s";
    if (seconds.count() < 120) return std::to_string(seconds.count()) + " s";
    if (minutes.count() < 120) return std::to_string(minutes.count()) + " min";
    return std::to_string(std::chrono::round<std::chrono::hours>(time).count()) + " h";
}

std::string date_in_words(std::int64_t milliseconds) {
    using namespace std::chrono;
    const sys_time<std::chrono::milliseconds> when{std::chrono::milliseconds(milliseconds)};
    const auto day = floor<days>(when);
    const year_month_day date(day);
    const hh_mm_ss time(floor<seconds>(when - day));
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d UTC", int{date.year()},
                  unsigned{date.month()}, unsigned{date.day()}, int(time.hours().count()),
                  int(time.minutes().count()), int(time.seconds().count()));
    return text;
}

} // namespace paddock
