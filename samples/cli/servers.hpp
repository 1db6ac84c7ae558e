// The client that the options of a command name: of ZooKeeper or of Redis.
#pragma once

#include "certificates.hpp"

#include <paddock/client.hpp>
#include <paddock/error.hpp>
#include <paddock/tls.hpp>
#if PADDOCK_HAS_REDIS
#include <paddock/redis/client.hpp>
#endif

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace cli {

namespace asio = boost::asio;

/// What the user has to write differently.
struct usage_error : std::runtime_error {
    using runtime_error::runtime_error;
};

/// What paddock cannot do anything about, such as servers that do not answer.
struct failure : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Throws usage_error or failure, which say what to do.
[[noreturn]] void explain(const paddock::system_error& error);

struct server_options {
    std::string servers{};   ///< zk://…, redis://…, rediss://…, or host:port,… of ZooKeeper
    std::string auth_file{}; ///< user:password, a line each
    paddock::tls_files tls_files{};
    std::string tls_name{};       ///< in the servers' certificates, instead of their hosts
    std::string empty_variable{}; ///< one for TLS that is set, which must not stand for none
    std::chrono::milliseconds session_timeout{10'000};
    std::chrono::milliseconds connect_timeout{15'000};
    bool create_root = false;
    bool new_servers = false;                     ///< redis::client_options::trust_new_servers
    bool quiet = false;                           ///< without the client's log
    std::shared_ptr<std::string> first_trouble{}; ///< gets the first line of the client's log
};

/// Whether one of the options for TLS is given.
bool wants_tls(const server_options& how);

class servers {
public:
    /// Throws usage_error.
    servers(asio::any_io_executor executor, const server_options& how);

    /// Throws failure, when no server answers within the time.
    asio::awaitable<void> connect(std::chrono::nanoseconds limit);
    /// Releases every lock; gives up after a second.
    asio::awaitable<void> close();

    bool on_redis() const;
    /// Throws usage_error on Redis, which says that `what` is not available there.
    paddock::client& zk(const std::string& what);
#if PADDOCK_HAS_REDIS
    paddock::redis::client& redis() { return *redis_; }
    /// With the user and password of --auth-file.
    const std::string& redis_url() const { return redis_url_; }
#endif
    /// Until when a lock stays when its holder has died: the session timeout that the ensemble has
    /// granted, or the time to live.
    std::chrono::milliseconds session_timeout() const;
    const server_options& options() const { return how_; }

private:
    server_options how_;
    std::optional<certificates> certificates_{};
    std::optional<paddock::client> zk_{};
#if PADDOCK_HAS_REDIS
    std::optional<paddock::redis::client> redis_{};
    std::string redis_url_{};
#endif
};

} // namespace cli
