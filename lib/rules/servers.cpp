#include "rules/servers.hpp"

#include "rules/paths.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

namespace paddock::rules {

namespace {

/// A host name, an IPv4 address and the name of an interface have no other characters.
bool is_name(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '.' || c == '-' || c == '_';
    });
}

/// With a zone or without.
bool is_ipv6_address(std::string_view host) {
    const auto zone = std::min(host.find('%'), host.size());
    in6_addr ignored{};
    return ::inet_pton(AF_INET6, std::string(host.substr(0, zone)).c_str(), &ignored) == 1 &&
           (zone == host.size() || (zone + 1 < host.size() && is_name(host.substr(zone + 1))));
}

/// A resolver would take 10.1 for 10.0.0.1, and a typing error for a server.
bool is_part_of_ipv4_address(const std::string& host) {
    in_addr ignored{};
    return host.find_first_not_of("0123456789.") == host.npos &&
           ::inet_pton(AF_INET, host.c_str(), &ignored) != 1;
}

std::string port_fault(std::string_view text, std::uint16_t& port) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc{} || end != text.data() + text.size() || port == 0)
        return "has the port '" + std::string(text) + "', which is not a number from 1 to 65535";
    return {};
}

std::string bracketed(std::string_view entry, server& out) {
    const auto close = entry.find(']');
    if (close == std::string_view::npos) return "has a '[' without ']'";
    out.host = entry.substr(1, close - 1);
    const auto rest = entry.substr(close + 1);
    if (rest.empty()) return {};
    if (rest.front() != ':') return "has something other than ':port' behind ']'";
    return port_fault(rest.substr(1), out.port);
}

} // namespace

std::string parse_server(std::string_view entry, server& out) {
    std::string fault;
    const auto colon = entry.find(':');
    if (entry.starts_with('[')) {
        fault = bracketed(entry, out);
    } else if (colon == std::string_view::npos || entry.find(':', colon + 1) != entry.npos) {
        out.host = entry; // no port, or an IPv6 address without brackets, which has none either
    } else {
        out.host = entry.substr(0, colon);
        fault = port_fault(entry.substr(colon + 1), out.port);
    }
    if (!fault.empty()) return fault;
    if (out.host.empty()) return "has an empty entry or host";
    const bool in_brackets = entry.starts_with('[');
    if (is_ipv6_address(out.host))
        return in_brackets ? "" : "has the IPv6 address '" + out.host + "' without brackets";
    if (in_brackets) return "has brackets around '" + out.host + "', which is no IPv6 address";
    if (out.host.find(':') != out.host.npos)
        return "has the host '" + out.host + "', which is neither host:port nor an IPv6 address";
    if (!is_name(out.host))
        return "has the host '" + out.host + "', which is not a valid host name";
    if (is_part_of_ipv4_address(out.host))
        return "has the host '" + out.host + "', which is not a complete address";
    return {};
}

bool begins_with_scheme(std::string_view text, std::string_view scheme) noexcept {
    const auto same = [](char wanted, char is) {
        return is == wanted || (is >= 'A' && is <= 'Z' && is - 'A' + 'a' == wanted);
    };
    text = text.substr(0, scheme.size());
    return std::equal(scheme.begin(), scheme.end(), text.begin(), text.end(), same);
}

std::string entry_place(std::size_t index, std::string_view entry, std::string_view expected) {
    return " (entry " + std::to_string(index + 1) + ": '" + std::string(entry) +
           "'; expected: " + std::string(expected) + ", with a ',' between two)";
}

namespace {

std::string_view without_scheme(std::string_view text) noexcept {
    for (const std::string_view scheme : {"zk://", "zookeeper://"})
        if (begins_with_scheme(text, scheme)) return text.substr(scheme.size());
    return text;
}

std::string_view without_last_slash(std::string_view root) noexcept {
    return root.size() > 1 && root.ends_with('/') && !root.ends_with("//")
               ? root.substr(0, root.size() - 1)
               : root;
}

/// A list in its parts, which are views into its text.
struct parts {
    std::vector<std::string_view> entries;
    std::string_view root; ///< from its slash on
};

parts split(std::string_view text) {
    parts out;
    for (auto rest = without_spaces(text);;) {
        rest = without_scheme(without_spaces(rest));
        const auto end = std::min(rest.find_first_of(",/"), rest.size());
        out.entries.push_back(without_spaces(rest.substr(0, end)));
        if (end < rest.size() && rest[end] == '/') out.root = without_last_slash(rest.substr(end));
        if (end == rest.size() || rest[end] == '/') break;
        rest.remove_prefix(end + 1);
    }
    // A comma may stand behind the last entry, too.
    if (out.entries.size() > 1 && out.entries.back().empty()) out.entries.pop_back();
    return out;
}

std::string root_fault(std::string_view root) {
    if (root.empty() || root == "/") return {};
    if (root.find(',') != root.npos)
        return "has a root with a ',' in it: one root stands behind all servers";
    const auto fault = path_fault(root);
    return fault.empty() ? fault : "ends in a root that " + fault;
}

std::string fault_of(const parts& list, std::vector<server>& out) {
    const auto& entries = list.entries;
    if (entries.back().ends_with(':') && list.root.starts_with("//"))
        return "has the scheme '" + std::string(entries.back()) + "//' in entry " +
               std::to_string(entries.size()) + ", where only zk:// may stand";
    if (auto fault = root_fault(list.root); !fault.empty()) return fault;
    for (std::size_t n = 0; n < entries.size(); ++n) {
        server one;
        if (const auto fault = parse_server(entries[n], one); !fault.empty())
            return fault + entry_place(n, entries[n], "host, host:port or [IPv6 address]:port");
        out.push_back(std::move(one));
    }
    return {};
}

} // namespace

parsed_servers parse_servers(std::string_view text) {
    parsed_servers list;
    const auto parts = split(text);
    const auto has_at = [](std::string_view part) { return part.find('@') != part.npos; };
    if (std::any_of(parts.entries.begin(), parts.entries.end(), has_at)) {
        list.fault = "has credentials before a host ('@'): client_options::auth takes them";
        return list;
    }
    list.fault = fault_of(parts, list.servers);
    if (!list.fault.empty() && has_at(text)) // perhaps behind a '/' in a password
        list.fault = "is malformed, or has credentials ('@'), which client_options::auth takes";
    if (parts.root != "/") list.root = parts.root;
    return list;
}

} // namespace paddock::rules
