#include "once_record.hpp"

#include "settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <ctime>

namespace cli {

namespace {

constexpr std::size_t sequence_digits = 10;
constexpr std::size_t longest_name = 200;

/// strftime(3) of the periods of a calendar; empty for others.
std::string calendar_format(const std::string& per) {
    if (per == "hour") return "%Y-%m-%dT%H%z";
    if (per == "day") return "%Y-%m-%d";
    if (per == "week") return "%G-W%V";
    return {};
}

std::string in_calendar(const std::string& format, std::int64_t ms) {
    const std::time_t seconds = ms / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    std::string text(64, '\0');
    text.resize(std::strftime(text.data(), text.size(), format.c_str(), &local));
    return text;
}

/// As a node's name may have it: `%` and two hexadecimal digits stand for other bytes.
std::string escaped(const std::string& key) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '_' || c == '.')
            out += c;
        else
            ((out += '%') += digits[byte / 16]) += digits[byte % 16];
    }
    return out;
}

} // namespace

void check(const occasion& when) {
    if (when.key.empty() == when.per.empty())
        throw usage_error("give either --per hour|day|week|TIME or --key KEY");
    if (record_name(when).size() > longest_name)
        throw usage_error("--key is too long; give its sha256sum");
    if (when.per.empty() || !calendar_format(when.per).empty()) return;
    try {
        if (read_time(when.per).count() > 0) return;
    } catch (const CLI::ValidationError&) { // names the times alone
    }
    throw usage_error("--per " + when.per + ": hour, day, week or a time such as 6h");
}

std::string record_name(const occasion& when) {
    return when.key.empty() ? "per-" : "key-" + escaped(when.key) + '-';
}

std::string to_text(const finished_run& run) {
    return "started=" + std::to_string(run.started) + "\nby=" + run.by + '\n';
}

std::optional<finished_run> parse_finished_run(const std::string& text) {
    static const std::string first = "started=", second = "\nby=";
    finished_run run;
    const auto by = text.find(second);
    if (text.compare(0, first.size(), first) != 0 || by == std::string::npos) return {};
    const char* const end = text.data() + by;
    if (std::from_chars(text.data() + first.size(), end, run.started).ptr != end) return {};
    run.by = text.substr(by + second.size());
    if (!run.by.empty() && run.by.back() == '\n') run.by.pop_back();
    return run;
}

bool same_occasion(const occasion& when, std::int64_t started, std::int64_t now) {
    if (!when.key.empty()) return true;
    const auto format = calendar_format(when.per);
    if (!format.empty()) return in_calendar(format, started) == in_calendar(format, now);
    return now - started < read_time(when.per).count();
}

std::string occasion_of(const std::string& name) {
    if (name.size() < sequence_digits) return {};
    auto occasion = name.substr(0, name.size() - sequence_digits);
    const bool numbered =
        name.find_first_not_of("0123456789", occasion.size()) == std::string::npos;
    const bool of_key =
        occasion.starts_with("key-") && occasion.find('-', 4) == occasion.size() - 1;
    return numbered && (of_key || occasion == "per-") ? occasion : "";
}

std::string key_of(const std::string& name) {
    const auto occasion = occasion_of(name);
    std::string key;
    for (std::size_t at = 4; at + 1 < occasion.size(); ++at) {
        unsigned byte = 0;
        const char* const digits = occasion.data() + at + 1;
        if (occasion[at] != '%' || at + 3 >= occasion.size() ||
            std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
            key += occasion[at];
            continue;
        }
        key += static_cast<char>(byte);
        at += 2;
    }
    return key;
}

std::vector<std::string> records_of(const std::string& beginning,
                                    const std::vector<std::string>& children) {
    std::vector<std::string> all;
    for (const auto& child : children)
        if (child.starts_with(beginning) && !occasion_of(child).empty()) all.push_back(child);
    const auto number = [](const std::string& name) {
        return name.substr(name.size() - sequence_digits);
    };
    std::sort(all.begin(), all.end(),
              [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
    return all;
}

} // namespace cli
