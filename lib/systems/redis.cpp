#include "systems/systems.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::detail {

namespace {
struct in_redis_file {};

/// Keys of different families must differ, as the paths of ZooKeeper do.
struct separate_family : redis::lock_family {
    separate_family(const redis::client& servers, std::string_view name)
        : lock_family(servers, std::string(name) + '/') {}
};
} // namespace

open_system redis_system() {
    return [](asio::any_io_executor executor, std::string_view url,
              const any_client_options& options) {
        redis::client_options how;
        if (options.timeout.count() > 0) how.ttl = options.timeout;
        how.max_ttl = std::max(how.max_ttl, how.ttl);
        how.trust_new_servers = options.trust_new_servers;
        how.log = options.log;
        how.tls = options.tls;
        how.observer = options.observer;
        return std::make_shared<
            client_system<in_redis_file, redis::client, redis::mutex, separate_family>>(
            redis::client(std::move(executor), url, std::move(how)));
    };
}

} // namespace paddock::detail
