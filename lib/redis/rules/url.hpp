#pragma once

#include "rules/servers.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::redis::rules {

/// One server of a URL.
struct server {
    std::string host; ///< a name or an address; an IPv6 address without its brackets
    std::uint16_t port = 6379;
    std::string user; ///< empty: the server's default user
    std::string password;
    int database = 0;
    bool tls = false;

    friend bool operator==(const server&, const server&) = default;
};

/// A parsed URL, such as `redis://user:secret@10.0.0.1:6379/0,10.0.0.2,10.0.0.3`.
struct parsed_url {
    std::vector<server> servers;
    std::string fault; ///< why the URL is invalid, without the password; else empty
};

/// `redis://[user:password@]host[:port][/database],…`: one server, or an odd number of them;
/// `rediss://` in front of one stands for TLS. What the first entry says about the scheme, the
/// user, the password and the database is true for every entry that does not say it. In user and
/// password, `%` and two hexadecimal digits stand for any byte.
parsed_url parse_url(std::string_view text);

} // namespace paddock::redis::rules
