#pragma once

#include "crew.hpp"
#include "faults.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace paddock::test {

struct chaos_terms {
    std::uint32_t seed = std::random_device()();
    std::chrono::seconds duration{120};
    std::size_t workers = 4;
    /// How long a lock outlives its silent client at most, and what the system calls that.
    std::chrono::milliseconds lease{2000};
    std::string lease_name{};
    /// Of twenty faults so many are of links, and of workers; the others are of servers.
    std::size_t link_faults = 13, worker_faults = 3;
    int longest_rest = 1000; ///< between the beginnings of two faults, in milliseconds
};

/// The servers that have the locks.
class chaos_servers {
public:
    virtual ~chaos_servers() = default;

    /// For the crew: all but its size and seed.
    virtual crew_terms terms() = 0;
    /// How many permits the semaphore has.
    virtual int permits() const { return 1; }
    /// One more fault of a server, if there may be one now.
    virtual void disturb(faults& all) = 0;
    /// Waits until they work; no fault is left.
    virtual void await_health() {}
    /// Fails the test if something of a client is left; all of them have ended.
    virtual void check_nothing_is_left() = 0;
};

using start_servers = std::function<std::unique_ptr<chaos_servers>(const chaos_terms&)>;

/// The main function of a chaos test.
int run_chaos(int argc, char** argv, chaos_terms terms, start_servers start);

} // namespace paddock::test
