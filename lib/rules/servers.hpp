#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::rules {

/// One entry of a server list.
struct server {
    std::string host; ///< a name or an address; an IPv6 address without its brackets
    std::uint16_t port = 2181;

    friend bool operator==(const server&, const server&) = default;
};

/// A parsed server list, such as `zk1:2181,[::1]:2182,10.0.0.3/app`.
struct parsed_servers {
    std::vector<server> servers;
    std::string root;  ///< the path behind the last server, from its slash on; else empty
    std::string fault; ///< why the list is invalid; else empty
};

/// Spaces may stand around every entry, `zk://` or `zookeeper://` before it, and a comma behind the
/// last one. A fault says in which entry it is.
parsed_servers parse_servers(std::string_view text);

/// Reads one entry, whose port is `out`'s if it has none. Returns why it is invalid, or nothing.
std::string parse_server(std::string_view entry, server& out);

/// The place of a faulty entry, and what should stand there, to be put behind the fault.
std::string entry_place(std::size_t index, std::string_view entry, std::string_view expected);

/// Whether a text begins with a scheme (`zk://`, in small letters), whose letters may be large or
/// small there (RFC 3986).
bool begins_with_scheme(std::string_view text, std::string_view scheme) noexcept;

} // namespace paddock::rules
