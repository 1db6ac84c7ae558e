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

/// How two servers lose each other.
enum class severance {
    reset,   ///< both hear of it at once
    silence, ///< neither does, until its own time is over
    half,    ///< the server that is cut off hears nothing, the others hear at once
};

/// Three private ZooKeeper servers that make an ensemble. What they say to each other goes over
/// links of their own, one for each direction of dialling, so that any of them can lose any other.
/// They listen only on the loopback interface, and die with this object and this process. Servers
/// are numbered from 0.
///
///     zk_ensemble ensemble({.tick_time = 800ms});
///     const auto old = ensemble.await_leader();
///     ensemble.cut_off(old, severance::half);
///
/// Not thread-safe; for a thread that lives on, as zk_server.
class zk_ensemble {
public:
    static constexpr std::size_t size = 3;

    /// Only what concerns the whole of it in the options is used. Returns when all servers answer.
    explicit zk_ensemble(zk_server_options options = {});
    ~zk_ensemble();

    zk_server& server(std::size_t i) { return *servers_.at(i); }
    /// A list of all servers, for clients.
    std::string addresses() const;

    /// Who says that it leads; nobody if nobody does, or if two do. Skips a paused server.
    std::optional<std::size_t> leader() const;
    bool leads(std::size_t i) const;
    /// Waits until somebody leads and everybody answers; throws with the logs when it is not in
    /// time.
    std::size_t await_leader();

    /// The two lose each other; `off` is the one that hears nothing of it with `severance::half`.
    /// Ends with `heal`.
    void sever(std::size_t off, std::size_t other, severance how);
    /// From all others.
    void cut_off(std::size_t off, severance how);
    void heal();

    /// A paused server is not asked who leads.
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
