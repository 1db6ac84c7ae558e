#include "redis/rules/url.hpp"

#include "support/spaces.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace paddock::redis::rules {

namespace {

using paddock::rules::begins_with_scheme;

constexpr std::string_view plain_scheme = "redis://";
constexpr std::string_view tls_scheme = "rediss://";
constexpr int most_databases = 1 << 20; ///< far more than servers have: the limit is theirs

std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        unsigned value = static_cast<unsigned char>(text[n]);
        if (text[n] == '%') {
            const auto digits = text.substr(n + 1, 2);
            const auto* const end = digits.data() + digits.size();
            if (digits.size() < 2 || std::from_chars(digits.data(), end, value, 16).ptr != end)
                return {};
            n += 2;
        }
        out += static_cast<char>(value);
    }
    return out;
}

/// What an entry says, besides its host and port.
struct extras {
    std::optional<std::string> user, password;
    std::optional<int> database;
    std::optional<bool> tls;
};

std::string parse_credentials(std::string_view text, extras& out) {
    const auto colon = text.find(':');
    if (colon == text.npos) return "has a user without a password";
    out.user = decoded(text.substr(0, colon));
    out.password = decoded(text.substr(colon + 1));
    if (!out.user || !out.password)
        return "has a '%' without two hexadecimal digits in its credentials";
    if (out.password->empty()) return "has an empty password";
    return {};
}

std::string parse_database(std::string_view text, extras& out) {
    if (text.empty()) return {};
    int number = 0;
    const auto* const end = text.data() + text.size();
    const auto [read, problem] = std::from_chars(text.data(), end, number);
    const auto shown = "has the database '" + std::string(text) + '\'';
    if (read != end || text.front() == '-' || problem == std::errc::invalid_argument)
        return shown + ", which is not a number";
    if (problem != std::errc{} || number > most_databases) return shown + ", which is too large";
    out.database = number;
    return {};
}

/// What stands behind the credentials.
std::string parse_place(std::string_view entry, server& out, extras& with) {
    std::string fault;
    if (entry.find('?') != entry.npos)
        return "has a '?': the options of a client do not stand in its URL";
    const auto slash = std::min(entry.find('/'), entry.size());
    if (slash < entry.size()) fault = parse_database(entry.substr(slash + 1), with);
    if (!fault.empty()) return fault;
    paddock::rules::server place{{}, out.port};
    fault = paddock::rules::parse_server(entry.substr(0, slash), place);
    out.host = std::move(place.host);
    out.port = place.port;
    return fault;
}

void parse_scheme(std::string_view& entry, extras& out) {
    for (const auto scheme : {plain_scheme, tls_scheme}) {
        if (!begins_with_scheme(entry, scheme)) continue;
        entry.remove_prefix(scheme.size());
        out.tls = scheme == tls_scheme;
        return;
    }
}

/// `shows`: no part of the entry can be part of a password.
std::string parse_entry(std::string_view entry, bool shows, server& out, extras& with) {
    parse_scheme(entry, with);
    // A password may have an '@' in it.
    if (const auto at = entry.rfind('@'); at != entry.npos) {
        auto fault = parse_credentials(entry.substr(0, at), with);
        if (!fault.empty()) return fault;
        entry.remove_prefix(at + 1);
    }
    auto fault = parse_place(entry, out, with);
    if (fault.empty() || shows) return fault;
    return "has an entry that is not host[:port][/database]; in a password ',' is %2C";
}

std::string fault_of(const std::vector<server>& all, bool shows) {
    if (all.size() % 2 == 0)
        return "has " + std::to_string(all.size()) +
               " servers: a quorum needs an odd number of them, or one";
    for (std::size_t n = 0; n < all.size(); ++n)
        for (std::size_t other = 0; other < n; ++other)
            if (all[n].host == all[other].host && all[n].port == all[other].port)
                return !shows
                           ? "has a server twice"
                           : "has the server " + all[n].host + ':' + std::to_string(all[n].port) +
                                 " twice (entries " + std::to_string(other + 1) + " and " +
                                 std::to_string(n + 1) + ')';
    return {};
}

/// Where an entry stands. If it may be a part of a password, it is not shown.
std::string place_of(std::size_t index, std::string_view entry, bool shows) {
    return shows ? paddock::rules::entry_place(index, entry, "host[:port][/database]")
                 : " (entry " + std::to_string(index + 1) + ')';
}

} // namespace

parsed_url parse_url(std::string_view text) {
    parsed_url url;
    text = without_spaces(text);
    if (!begins_with_scheme(text, plain_scheme) && !begins_with_scheme(text, tls_scheme)) {
        url.fault = "does not begin with 'redis://' or 'rediss://'";
        return url;
    }
    extras first;
    // In front of it there may be a password, and a comma in it makes entries of its parts.
    const auto secret_end = text.rfind('@') + 1;
    for (std::size_t start = 0; start <= text.size() && url.fault.empty();) {
        const auto end = std::min(text.find(',', start), text.size());
        const auto entry = without_spaces(text.substr(start, end - start));
        // A comma may stand behind the last entry, too.
        if (entry.empty() && end == text.size() && !url.servers.empty()) break;
        const bool shows = end >= secret_end;
        server one;
        extras with;
        url.fault = parse_entry(entry, shows, one, with);
        if (!url.fault.empty()) url.fault += place_of(url.servers.size(), entry, secret_end == 0);
        if (url.servers.empty()) first = with;
        one.user = with.password ? *with.user : first.user.value_or("");
        one.password = with.password ? *with.password : first.password.value_or("");
        one.database = with.database.value_or(first.database.value_or(0));
        one.tls = with.tls.value_or(first.tls.value_or(false));
        url.servers.push_back(std::move(one));
        start = end + 1;
    }
    if (url.fault.empty()) url.fault = fault_of(url.servers, secret_end == 0);
    return url;
}

} // namespace paddock::redis::rules
