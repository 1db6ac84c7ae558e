#include "client/metadata.hpp"

#include "rules/revoke_requests.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace paddock::detail {

namespace json = boost::json;

namespace {

void print(std::string& to, std::int64_t number, std::size_t width) {
    const auto digits = std::to_string(number);
    to.append(width - std::min(width, digits.size()), '0').append(digits);
}

/// Every lock call writes a time, and the standard library's formatting is slow.
std::string iso8601(std::chrono::system_clock::time_point when) {
    using namespace std::chrono;
    const auto day = floor<days>(when);
    const year_month_day date(day);
    const hh_mm_ss time(floor<milliseconds>(when - day));
    std::string text;
    print(text, int{date.year()}, 4);
    print(text += '-', unsigned{date.month()}, 2);
    print(text += '-', unsigned{date.day()}, 2);
    print(text += 'T', time.hours().count(), 2);
    print(text += ':', time.minutes().count(), 2);
    print(text += ':', time.seconds().count(), 2);
    print(text += '.', time.subseconds().count(), 3);
    return text += 'Z';
}

/// The inverse of iso8601(); 1970 for any other text.
std::chrono::system_clock::time_point read_iso8601(const std::string& text) {
    std::tm parts{};
    int fraction = 0;
    if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &parts.tm_year, &parts.tm_mon,
                    &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &fraction) != 7)
        return {};
    constexpr int first_year = 1970, last_year = 2261; // 64 bits of nanoseconds
    if (parts.tm_year < first_year || parts.tm_year > last_year) return {};
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return std::chrono::system_clock::from_time_t(::timegm(&parts)) +
           std::chrono::milliseconds(fraction);
}

/// Null for data that is no JSON.
json::value parsed(std::string_view data) {
    boost::system::error_code malformed;
    return json::parse(data, malformed);
}

std::string text_of(const json::object& from, std::string_view member) {
    const auto* const value = from.if_contains(member);
    const auto* const text = value ? value->if_string() : nullptr;
    return text ? std::string(text->begin(), text->end()) : std::string();
}

} // namespace

metadata::metadata(const process_name& of, std::string_view label, bool sticky)
    : start_(json::serialize(json::value{{"host", of.host}, {"pid", of.pid}, {"label", label}})) {
    start_.back() = ','; // at() adds the last members
    if (sticky) start_ += "\"sticky\":true,";
}

metadata metadata::verbatim(std::string text) {
    metadata out;
    out.start_ = std::move(text);
    out.verbatim_ = true;
    return out;
}

std::string metadata::at(std::chrono::system_clock::time_point now, std::string_view id,
                         std::chrono::system_clock::time_point revoke_requested) const {
    if (verbatim_) return start_;
    auto text = start_;
    const auto add = [&text](std::string_view name, std::string_view value) {
        text.append(1, '"').append(name).append("\":\"").append(value).append("\",");
    };
    if (!id.empty()) add("id", id);
    if (revoke_requested != std::chrono::system_clock::time_point())
        add("revoke_requested", iso8601(revoke_requested));
    return text.append("\"time\":\"").append(iso8601(now)).append("\"}");
}

void read_metadata(std::string_view data, contender& out) {
    const auto value = parsed(data);
    const auto* const object = value.if_object();
    if (!object) return;
    out.host = text_of(*object, "host");
    out.label = text_of(*object, "label");
    out.since = read_iso8601(text_of(*object, "time"));
    out.revoke_requested = read_iso8601(text_of(*object, "revoke_requested"));
    const auto* const pid = object->if_contains("pid");
    if (pid && pid->is_int64()) out.pid = pid->get_int64();
}

void read_node(std::string_view data, const node_stat& stat, contender& out) {
    out.data = data;
    out.session = stat.ephemeral_owner;
    read_metadata(data, out);
    if (const auto request = rules::revoke_request_in(data, &stat))
        out.revoke_requested = time_of(request->time);
}

bool says_sticky(std::string_view data) {
    const auto value = parsed(data);
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains("sticky") : nullptr;
    return member && member->is_bool() && member->get_bool();
}

} // namespace paddock::detail
