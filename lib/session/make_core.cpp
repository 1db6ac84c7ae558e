#include "session/make_core.hpp"

#include "client/shutdown_service.hpp"
#include "native/c_library.hpp"
#include "rules/lease_clock.hpp"
#include "rules/paths.hpp"
#include "rules/servers.hpp"
#include "session/root_check.hpp"
#include "support/argument.hpp"

#include <boost/asio/ip/address.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

// Far below max_request_bytes, so that requests have room for them.
constexpr std::size_t longest_credentials = 16 * 1024;
constexpr std::size_t longest_root = 512;

void check(const lease_options& lease, std::chrono::milliseconds session_timeout) {
    using namespace std::chrono_literals;
    // Servers usually give no session less than two ticks. The lease adds 1/20, so a touch counts
    // after half of the timeout at most.
    const auto longest_tick = session_timeout * 9 / 20;
    // A healthy lease has more than a half left, and an answer takes some of it.
    const auto longest_validity = session_timeout * 9 / 20;
    if (lease.tick_time < 0ms || lease.tick_time > longest_tick)
        throw bad_argument("lease.tick_time",
                           "is negative, or longer than 9/20 of session_timeout");
    // Of what a healthy lease has left, more than a quarter stays for the work.
    if (lease.margin < 0ms || lease.margin > session_timeout / 4)
        throw bad_argument("lease.margin", "is negative, or longer than 1/4 of session_timeout");
    if (lease.min_validity < 0ms || lease.min_validity > longest_validity)
        throw bad_argument("lease.min_validity",
                           "is negative, or longer than 9/20 of session_timeout");
    if (lease.proof == lease_proof::sync &&
        (lease.tick_time == 0ms || rules::sync_gap(lease.tick_time) > longest_tick))
        throw bad_argument("lease.tick_time",
                           "is needed for lease_proof::sync, up to 3/10 of session_timeout");
    check_enumerator("lease.proof", lease.proof, lease_proof::sync);
    const rules::lease_settings settings{.tick = lease.tick_time,
                                         .margin = lease.margin,
                                         .by_sync = lease.proof == lease_proof::sync};
    // More often than that would cost an ensemble four times the usual proofs.
    if (lease.renew_every < 0ms ||
        (lease.renew_every > 0ms && lease.renew_every < session_timeout / 25))
        throw bad_argument("lease.renew_every",
                           "is negative, or shorter than 1/25 of session_timeout");
    if (lease.renew_every > session_timeout / 4 ||
        lease.renew_every > rules::longest_renewal(session_timeout, settings))
        throw bad_argument("lease.renew_every",
                           "leaves no time for a lost answer and a reconnect: at most a quarter of "
                           "session_timeout, and less with a margin or a long tick_time");
}

void check(const client_options& options) {
    using namespace std::chrono_literals;
    const auto& b = options.budgets;
    // Below, a pause of the event loop or of a server costs the session; above, the nodes of a dead
    // client block the others for more than a day.
    if (options.session_timeout < 100ms || options.session_timeout > 24h)
        throw bad_argument("session_timeout", "is not between 100 ms and 24 h");
    check(options.lease, options.session_timeout);
    // Every request of a lock fits into the smallest; the C client counts with int.
    constexpr std::size_t smallest = 256 * 1024, largest = 1024 * 1024 * 1024;
    if (options.max_request_bytes < smallest || options.max_request_bytes > largest)
        throw bad_argument("max_request_bytes", "is not between 256 KiB and 1 GiB");
    // One node at least; the largest are explained at the options.
    if (b.node_path_bytes < 1024 || b.node_path_bytes > 1024 * 1024)
        throw bad_argument("budgets.node_path_bytes", "is not between 1 KiB and 1 MiB");
    if (b.watched_path_bytes < 1024 || b.watched_path_bytes > 512 * 1024)
        throw bad_argument("budgets.watched_path_bytes", "is not between 1 KiB and 512 KiB");
    if (b.requests_in_flight == 0)
        throw bad_argument("budgets.requests_in_flight", "allows no request");
    if (b.request_bytes_in_flight == 0)
        throw bad_argument("budgets.request_bytes_in_flight", "allows no request");
    if (options.tls && !native::c_client_can_be_encrypted())
        throw bad_argument("client_options::tls",
                           "needs a shared library that has a copy of libzookeeper_st.a inside");
    for (const auto& credentials : options.auth) {
        if (credentials.user.empty() || credentials.user.find(':') != std::string::npos)
            throw bad_argument("auth", "has a user that is empty or contains ':'");
        if (credentials.user.size() + credentials.password.size() > longest_credentials)
            throw bad_argument("auth", "has a user and password of more than 16 KiB");
    }
}

std::string joined_root(const std::string& in_list, const std::string& in_options) {
    const auto root = in_options == "/" ? std::string() : in_options;
    if (!root.empty())
        if (const auto fault = rules::path_fault(root); !fault.empty())
            throw bad_argument("root", root, fault);
    if (!in_list.empty() && !root.empty())
        throw bad_argument("root", root, "is given twice: the server list ends in one too");
    auto joined = in_list + root;
    if (joined.size() > longest_root) throw bad_argument("root", "is longer than 512 bytes");
    return joined;
}

std::vector<native::server_address> addresses(const std::vector<rules::server>& servers) {
    std::vector<native::server_address> out;
    for (const auto& one : servers) {
        error_code not_an_address;
        const auto parsed = asio::ip::make_address(one.host, not_an_address);
        // Of an address' several forms the one that the C client prints, too.
        const auto host = not_an_address ? one.host : parsed.to_string();
        out.push_back({host, one.port, !not_an_address});
    }
    return out;
}

rules::parsed_servers checked_servers(std::string_view servers) {
    auto parsed = rules::parse_servers(servers);
    const bool secret = servers.find('@') != servers.npos; // perhaps a password
    if (!parsed.fault.empty())
        throw secret ? bad_argument("servers", parsed.fault)
                     : bad_argument("servers", servers, parsed.fault);
    return parsed;
}

} // namespace

std::shared_ptr<core> make_core(asio::any_io_executor io, world outside, std::string_view servers,
                                client_options options) {
    check(options);
    const auto parsed = checked_servers(servers);
    auto root = joined_root(parsed.root, options.root);
    auto made = std::make_shared<session_keeper>(std::move(io), std::move(outside),
                                                 addresses(parsed.servers), std::move(root),
                                                 std::move(options));
    if (!made->root().empty()) made->use<root_check>();
    end_with_context(made);
    return made;
}

std::vector<native::server_address> new_servers(std::string_view servers, std::string_view root) {
    const auto parsed = checked_servers(servers);
    if (!parsed.root.empty() && parsed.root != root)
        throw bad_argument("servers", servers, "ends in another root than the client's");
    return addresses(parsed.servers);
}

} // namespace paddock::detail
