// What doctor asks servers beside the library: a TCP connection, each step of which has a limit.
#pragma once

#include "settings.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <string>
#include <vector>

namespace cli {

/// An entry of a list of servers.
struct listed_server {
    std::string host{}, port{};
    std::string user{}, password{}, database{}; ///< of Redis
    std::string name() const { return host + ':' + port; }
};
/// The entries of a list, without the scheme and the root. Of Redis, what the first entry says
/// about user, password and database is true for each that does not say it.
std::vector<listed_server> read_servers(std::string list, const std::string& default_port);

/// Errors: all operations throw paddock::system_error, timed_out if the limit has passed.
class plain_tcp {
public:
    plain_tcp(asio::any_io_executor executor, milliseconds limit)
        : socket_(executor), limit_(limit) {}

    asio::awaitable<void> connect(asio::ip::tcp::endpoint to);
    asio::awaitable<void> write(std::string bytes);
    /// Appends what comes; false at the end.
    asio::awaitable<bool> read_more(std::string& into);

private:
    asio::awaitable<void> limited(asio::awaitable<void> step) const;

    asio::ip::tcp::socket socket_;
    milliseconds limit_;
};

asio::awaitable<std::vector<asio::ip::tcp::endpoint>> resolve(listed_server server,
                                                              milliseconds limit);

} // namespace cli
