// What `paddock once` remembers of the runs that were finished.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// How often a job runs: once for each key, or once in each period.
struct occasion {
    std::string key{};
    /// hour, day or week, by this machine's time zone, or a time such as 6h.
    std::string per{};
};

/// Throws usage_error for an occasion that is none.
void check(const occasion& when);

/// The beginning of the names of the nodes that record this occasion's runs, each followed by a
/// sequence number.
std::string record_name(const occasion& when);

/// A finished run. Its times are the ensemble's, in ms since 1970.
struct finished_run {
    std::int64_t started = 0;
    std::string by{};
};
std::string to_text(const finished_run& run);
std::optional<finished_run> parse_finished_run(const std::string& text);

/// Whether a run that started then is for the same occasion as one that starts now.
bool same_occasion(const occasion& when, std::int64_t started, std::int64_t now);

/// The beginning of the name of a record; empty for the name of another node.
std::string occasion_of(const std::string& name);
/// The key that a record is for; empty if it is for a period.
std::string key_of(const std::string& name);

/// Of the children of the directory of records those that begin so, the oldest first.
std::vector<std::string> records_of(const std::string& beginning,
                                    const std::vector<std::string>& children);

} // namespace cli
