// What doctor finds out about servers.
#pragma once

#include "plain_tcp.hpp"
#include "servers.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <utility>
#include <vector>

namespace cli {

enum class health { ok, warn, bad };

struct finding {
    health how{};
    std::string server{}; ///< empty: all of them together
    std::string check{};  ///< a word for programs
    std::string text{};   ///< what was found, and what to do
};

class diagnosis {
public:
    void add(health how, std::string server, std::string check, std::string text) {
        all_.push_back({how, std::move(server), std::move(check), std::move(text)});
    }
    const std::vector<finding>& all() const { return all_; }

private:
    std::vector<finding> all_{};
};

/// How long doctor waits for one answer.
inline constexpr milliseconds doctor_patience{3'000};

asio::awaitable<void> examine_zookeeper(const server_options& how, diagnosis& out);
#if PADDOCK_HAS_REDIS
asio::awaitable<void> examine_redis(const server_options& how, diagnosis& out);
#endif

std::string text_of(milliseconds time);
/// Compares a server's clock with this machine's: the server read it between the two times.
void compare_clocks(std::chrono::system_clock::time_point before, milliseconds server_clock,
                    std::chrono::system_clock::time_point after, const std::string& server,
                    diagnosis& out);

} // namespace cli
