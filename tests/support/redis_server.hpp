#pragma once

#include "certificates.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// A private Redis server: a child process that listens only on the loopback interface, with its
/// data in a temporary folder, without snapshots unless the arguments ask for them. It dies with
/// this object, and with this process. Not thread-safe.
class redis_server {
public:
    /// More arguments for redis-server, such as {"--appendonly", "yes"}. Returns when the server
    /// answers; throws with the end of its log when it does not.
    /// With `shifted_clock`, the path of that library, its wall clock can be set.
    explicit redis_server(std::vector<std::string> arguments = {},
                          std::string_view shifted_clock = {});
    /// It speaks TLS.
    redis_server(std::vector<std::string> arguments, const tls_of_server& tls);
    redis_server(redis_server&&) noexcept;
    ~redis_server();

    std::uint16_t port() const;
    /// Where the test itself may ask a server that speaks TLS; else the same.
    std::uint16_t plain_port() const;

    /// Ends the process like a power cut.
    void kill();
    /// What it has written is lost. Only while it is dead.
    void wipe();
    /// Starts it again on the same port and folder, and waits until it answers.
    void start();
    /// While it is paused it keeps its connections and answers nothing.
    void pause();
    void resume();
    /// Sets its wall clock ahead of the true time by so much.
    void set_clock(std::chrono::seconds ahead);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace paddock::test
