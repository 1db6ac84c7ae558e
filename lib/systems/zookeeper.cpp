#include "systems/systems.hpp"

#include <paddock/client.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>

#include <memory>
#include <utility>

namespace paddock::detail {

namespace {
struct in_zookeeper_file {};
} // namespace

open_system zookeeper_system() {
    return [](asio::any_io_executor executor, std::string_view url,
              const any_client_options& options) {
        client_options how;
        if (options.timeout.count() > 0) how.session_timeout = options.timeout;
        how.create_root = options.create_root;
        how.tls = options.tls;
        how.log = options.log;
        how.observer = options.observer;
        return std::make_shared<client_system<in_zookeeper_file, client, mutex, lock_family>>(
            client(std::move(executor), url, std::move(how)));
    };
}

} // namespace paddock::detail
