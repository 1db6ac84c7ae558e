#pragma once

#include "sim/checker.hpp"
#include "sim/host.hpp"

#include <paddock/client.hpp>
#include <paddock/election.hpp>
#include <paddock/mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/simple_mutex.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// The locks of a history; each of them at a path of its own, but for the two mutexes.
struct contested_locks {
    contested mutex{"/locks/a", "-lock-"};
    contested other{"/locks/a", "-other-"};
    contested shared{"/locks/b", "-__"};
    contested simple{"/locks/c"};
    contested semaphore{"/locks/d/leases", "", 2};
    contested election{"/locks/e", "-latch-"};
};

/// One call of the application: how it asks for which lock, and what it does with it.
struct job {
    enum kind { mutex, other, read, write, simple, permit, campaign } what = mutex;
    enum way { wait, only_if_free, limited } how = wait;
    duration limit{0};
    std::optional<duration> cancelled_after{};
    duration held_for{0};
    bool unlocks = false; ///< and waits; else the guard is destroyed
};

/// A process that uses the library as it is, in a simulated world.
class process {
public:
    process(ensemble& all, checker& check, contested_locks& locks, std::string name,
            std::string_view servers, client_options options);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    void begin(const job& what);
    /// As kill -9: the session lives on until it times out.
    void die();

    host& where() noexcept { return *host_; }
    std::int64_t session() const { return client_ ? client_->session_id() : 0; }
    bool idle() const noexcept { return under_way_ == 0; }
    std::string story() const;

private:
    struct locks;
    struct call;

    void ask(const std::shared_ptr<call>& c);
    template <typename Token>
    void ask_as(const job& what, Token token);
    void answered(const std::shared_ptr<call>& c, error_code why, guard g);
    void hold(const std::shared_ptr<call>& c);
    void give_back(const std::shared_ptr<call>& c);
    void done(const std::shared_ptr<call>& c);
    contested& lock_of(job::kind what) const;

    checker& check_;
    contested_locks& contested_;
    std::shared_ptr<host> host_;
    std::optional<client> client_;
    std::unique_ptr<locks> locks_;
    std::vector<std::shared_ptr<call>> calls_;
    int under_way_ = 0;
};

} // namespace paddock::test::sim
