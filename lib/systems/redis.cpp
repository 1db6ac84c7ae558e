#include "systems/systems.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>

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
    return [](asio::any_io_executor executor, std::string_view url) {
        return std::make_shared<
            client_system<in_redis_file, redis::client, redis::mutex, separate_family>>(
            redis::client(std::move(executor), url));
    };
}

} // namespace paddock::detail
