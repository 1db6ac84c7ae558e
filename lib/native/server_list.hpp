#pragma once

#include "support/environment.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock::native {

/// One server of the list: a host name or a literal address (IPv6 without brackets), and a port.
struct server_address {
    std::string host;
    std::uint16_t port = 2181;
    bool literal = false; ///< an address: needs no resolver
};

/// What the names of a server list stand for at present.
struct server_endpoints {
    std::vector<std::string> found;      ///< `ip:port`, sorted, each once
    std::vector<std::string> unresolved; ///< names that the resolver does not know
};

/// Turns the servers that the user has named into addresses, as often as it is asked.
class server_list {
public:
    using looked_up = unique_function<void(server_endpoints)>;

    server_list(environment& env, std::vector<server_address> servers);

    bool has_names() const noexcept;
    bool under_way() const noexcept { return under_way_; }

    /// Looks the names up, one after the other. The answer comes from within if there are none.
    void look_up(looked_up done);

private:
    void next();

    environment& env_;
    std::vector<server_address> servers_;
    std::size_t at_ = 0;
    bool under_way_ = false;
    server_endpoints result_;
    looked_up done_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

/// The list that the C client gets: in random order, so that clients spread over the servers, and
/// with an odd number of entries. It advances by two after each failure, and would never come to
/// the other half of an even number of servers.
std::string connect_string(std::vector<std::string> endpoints, environment& env);

} // namespace paddock::native
