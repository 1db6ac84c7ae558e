#pragma once

#include "links.hpp"
#include "zk_server.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace paddock::test {

/// How two servers lose their connection.
enum class severance {
    reset,   ///< both notice it at once
    silence, ///< neither does, until its own timeout
    half,    ///< the cut-off server does not notice, the other one does at once
};

/// Three private ZooKeeper servers that make an ensemble. Their messages go over links of their
/// own, one for each direction of dialling, so that any two of them can be separated. They listen
/// only on the loopback interface, and die with this object and this process. Servers are numbered
/// from 0.
///
///     zk_ensemble ensemble({.tick_time = 800ms});
///     const auto old = ensemble.await_leader();
///     ensemble.cut_off(old, severance::half);
///
/// Not thread-safe; for a thread that lives on, as zk_server.
class zk_ensemble {
public:
    static constexpr std::size_t size = 3;

    /// Uses only the options of the whole ensemble. Returns when all servers answer.
    explicit zk_ensemble(zk_server_options options = {});
    ~zk_ensemble();

    zk_server& server(std::size_t i) { return *servers_.at(i); }
    /// A list of all servers, for clients.
    std::string addresses() const;

    /// The server that reports itself as leader; none if there is none, or two. Skips a paused
    /// server.
    std::optional<std::size_t> leader() const;
    bool leads(std::size_t i) const;
    /// Waits until there is a leader and every server answers; throws with the logs when that takes
    /// too long.
    std::size_t await_leader();

    /// Separates the two; with `severance::half`, `off` does not notice. Ends with `heal`.
    void sever(std::size_t off, std::size_t other, severance how);
    /// From all others.
    void cut_off(std::size_t off, severance how);
    void heal();

    /// A paused server is not asked for its role.
    void pause(std::size_t i);
    void resume(std::size_t i);

private:
    /// Dialled by one of two servers.
    struct way {
        tcp_link* quorum = nullptr;
        tcp_link* election = nullptr;
    };
    way& from_to(std::size_t from, std::size_t to) { return ways_[from][to]; }
    void make_ways();
    zk_server_options options_of(std::size_t i, zk_server_options common);
    [[noreturn]] void give_up() const;

    link_room room_;
    std::array<reserved_port, size> quorum_ports_, election_ports_;
    std::array<std::array<way, size>, size> ways_{};
    std::array<std::unique_ptr<zk_server>, size> servers_;
    std::array<bool, size> paused_{};
};

} // namespace paddock::test
