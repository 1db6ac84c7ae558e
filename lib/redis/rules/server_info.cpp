#include "redis/rules/server_info.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::redis::rules {

namespace {

constexpr int oldest = 5; ///< scripts that read the clock cannot write in older versions

template <typename Number>
Number number_in(std::string_view text) {
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// What the server sent, fit for a line of the log: versions, roles and policies are shorter.
std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 40;
    std::string out(text.substr(0, longest));
    const auto odd = [](char c) { return c < ' ' || c > '~'; };
    std::replace_if(out.begin(), out.end(), odd, '?');
    return "'" + out + "'";
}

void read_line(std::string_view name, std::string_view value, server_info& out) {
    if (name == "redis_version") {
        out.version = value;
        out.major_version = number_in<int>(value);
    } else if (name == "run_id") {
        out.run_id = value;
    } else if (name == "role") {
        out.role = value;
    } else if (name == "cluster_enabled") {
        out.in_cluster = value != "0";
    } else if (name == "loading") {
        out.is_loading = value != "0";
    } else if (name == "maxmemory") {
        out.memory_limit = number_in<std::uint64_t>(value);
    } else if (name == "maxmemory_policy") {
        out.memory_policy = value;
    } else if (name == "server_time_usec") {
        out.clock = std::chrono::microseconds(number_in<std::int64_t>(value));
    }
}

} // namespace

server_info read_info(std::string_view text) {
    server_info out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto colon = line.find(':');
        if (colon != line.npos && !line.starts_with('#'))
            read_line(line.substr(0, colon), line.substr(colon + 1), out);
    }
    return out;
}

std::string fault_of(const server_info& info) {
    if (info.major_version <= 0)
        return "the server does not say which version of Redis it is: it cannot be used for locks";
    if (info.major_version < oldest)
        return "the server is Redis " + quoted(info.version) + ": locks need version " +
               std::to_string(oldest) + " or later";
    if (info.in_cluster)
        return "the server is part of a Redis cluster, which can lose a lock when it changes "
               "masters: use independent servers";
    if (info.role != "master")
        return "the server's role is " + quoted(info.role) + ": only a master can grant locks";
    if (info.memory_limit > 0 && info.memory_policy != "noeviction")
        return "the server has maxmemory with the policy " + quoted(info.memory_policy) +
               ", and may evict a lock: set maxmemory-policy to noeviction";
    return {};
}

} // namespace paddock::redis::rules
