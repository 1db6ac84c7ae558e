#pragma once

#include "support/environment.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock::native {

/// One server of the list: a host name or a literal address (IPv6 without brackets), and a port.
struct server_address {
    std::string host;
    std::uint16_t port = 2181;
    bool literal = false; ///< `host` is an address
};

/// The known addresses of a server list.
struct server_endpoints {
    std::vector<std::string> found;      ///< `ip:port`, sorted, each once
    std::vector<std::string> unresolved; ///< names that this round could not resolve
    bool complete = false;               ///< the round has ended
};

/// For readers of a log: the C client knows no brackets around an address with colons.
std::string with_brackets(const std::string& endpoint);

/// Resolves the names of the user's server list.
///
/// It looks one name up at a time, because Asio's one resolver thread per execution context
/// serializes all look-ups anyway. So a slow name delays the names behind it, also those of other
/// clients and of the application, but not the literal addresses and the names already known.
class server_list {
public:
    using endpoints_handler = unique_function<void(const server_endpoints&)>;

    server_list(environment& env, std::vector<server_address> servers);

    /// Replaces the servers, and ends the round. A name that was there before keeps its addresses.
    void replace(std::vector<server_address> servers);

    bool has_names() const noexcept;
    /// The host from which this `ip:port` is known, the first in the list; empty if there is none.
    std::string host_of(const std::string& endpoint) const;
    bool in_progress() const noexcept { return in_progress_; }

    /// Begins a round: looks every name up, in random order, so that the clients of a fleet do not
    /// all begin with the first server. Calls the handler with the known addresses at once, from
    /// within, and after each answer. A name keeps its former addresses until a look-up of it
    /// succeeds. One round at a time.
    void look_up(endpoints_handler handler);

    /// Ends the round without another call of the handler. The resolver still completes the name
    /// that it is looking up.
    void give_up() noexcept;

private:
    struct server {
        server_address named;
        std::vector<std::string> endpoints; ///< as far as known
    };

    void resolve_next();
    void resolved(std::size_t which, const std::vector<std::string>& addresses);
    void report();

    environment& env_;
    std::vector<server> servers_;
    std::vector<std::size_t> pending_; ///< indices of names still to look up, the next one last
    std::vector<std::string> unresolved_;
    bool in_progress_ = false;
    std::shared_ptr<endpoints_handler> handler_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

/// The server list for the C client: in random order, so that clients spread over the servers, and
/// with an odd number of entries. The C client advances by two after each failure, so it would
/// never try the other half of an even number of servers.
std::string connect_string(std::vector<std::string> endpoints, environment& env);

} // namespace paddock::native
