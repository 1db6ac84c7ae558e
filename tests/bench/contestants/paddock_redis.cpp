// paddock on Redis: one server, or an odd number of masters.
#include "contend.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/mutex.hpp>

#include <stdexcept>

using namespace paddock::bench;
using namespace std::chrono_literals;

namespace {

struct redis_system {
    using client = paddock::redis::client;
    using mutex = paddock::redis::mutex;

    client connect(asio::io_context& io) const {
        paddock::redis::client_options options;
        options.trust_new_servers = true;
        if (!ca.empty()) options.tls = paddock::tls({.ca = ca});
        return client(io, (ca.empty() ? "redis://" : "rediss://") + servers, options);
    }

    mutex make(const client& from, const std::string& path) const { return mutex(from, path); }

    /// Nobody can see from outside who waits.
    asio::awaitable<void> until_queued(client&, std::string, std::size_t) const {
        return pause(200ms);
    }

    std::string servers;
    std::string ca; ///< connections are encrypted, with servers that this one vouches for
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) return 2;
    const redis_system system{argv[1], argc > 2 ? argv[2] : ""};
    serve([&](const job& wanted, measurement& figures) {
        if (wanted.workload() != "contend") throw std::runtime_error("no such workload");
        asio::io_context io(1);
        asio::co_spawn(io, contend(io, system, wanted, figures), rethrow);
        io.run();
    });
}
