#include "systems/systems.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>

#include <memory>
#include <utility>

namespace paddock::detail {

namespace {
struct in_redis_file {};
} // namespace

open_system redis_system() {
    return [](asio::any_io_executor executor, std::string_view url) {
        return std::make_shared<
            client_system<in_redis_file, redis::client, redis::mutex, redis::lock_family>>(
            redis::client(std::move(executor), url));
    };
}

} // namespace paddock::detail
