#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace paddock::test {

/// With PADDOCK_TEST_TLS in the environment tests that look at it have clients that speak TLS.
inline bool over_tls() noexcept { return std::getenv("PADDOCK_TEST_TLS") != nullptr; }

/// Speaks TLS for whoever listens at a port of the loopback interface, on a thread of its own: what
/// clients say arrives there in plain, and connections that end there end here in the same way. So
/// a fault_proxy behind it can read what they say.
class tls_front {
public:
    explicit tls_front(std::uint16_t upstream_port);
    ~tls_front();

    std::uint16_t port() const;
    /// "127.0.0.1:port"
    std::string address() const;
    /// Whom its clients are to trust.
    static const std::string& ca_file();

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

/// None without PADDOCK_TEST_TLS.
inline std::unique_ptr<tls_front> front_of(std::uint16_t upstream_port) {
    return over_tls() ? std::make_unique<tls_front>(upstream_port) : nullptr;
}

} // namespace paddock::test
