#include "rules/servers.hpp"

#include "rules/paths.hpp"

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

parsed_servers parse_servers(std::string_view text) {
    parsed_servers list;
    if (text.find("://") != text.npos) {
        list.fault = "has a scheme ('://'), instead of names or addresses with ports";
        return list;
    }
    const auto slash = std::min(text.find('/'), text.size());
    list.root = text.substr(slash);
    if (list.root == "/") list.root.clear();
    if (list.root.find(',') != list.root.npos) {
        list.fault = "has a root with a ',' in it: one root stands behind all servers";
        return list;
    }
    if (!list.root.empty()) list.fault = path_fault(list.root);
    if (!list.fault.empty()) {
        list.fault = "ends in a root that " + list.fault;
        return list;
    }
    const auto servers = text.substr(0, slash);
    if (servers.find('@') != servers.npos) {
        list.fault = "has credentials before a host ('@'): client_options::auth takes them";
        return list;
    }
    for (std::size_t start = 0; start <= servers.size() && list.fault.empty();) {
        const auto end = std::min(servers.find(',', start), servers.size());
        server one;
        list.fault = parse_server(servers.substr(start, end - start), one);
        list.servers.push_back(std::move(one));
        start = end + 1;
    }
    if (!list.fault.empty() && text.find('@') != text.npos) // perhaps behind a '/' in a password
        list.fault = "is malformed, or has credentials ('@'), which client_options::auth takes";
    return list;
}

} // namespace paddock::rules
