#pragma once

#include "crew.hpp"
#include "support/zk_ensemble.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace paddock::test {

/// Random faults, from a seed. Each has a victim without another fault at that time, and ends after
/// a while. Most last for about as long as a session may.
class faults {
public:
    using clock = std::chrono::steady_clock;

    faults(zk_ensemble& ensemble, crew& workers, std::uint32_t seed);

    /// Begins one more, if there is a victim for it.
    void inject();
    /// Ends the faults that are due; `all`: all of them.
    void take_back(bool all = false);
    /// How long until the next one.
    std::chrono::milliseconds pause() { return between(100, 1000); }

    /// How many there were, by kind.
    const std::map<std::string, int>& counts() const { return counts_; }
    /// The faults, with their times by the boot clock.
    const std::vector<std::string>& diary() const { return diary_; }

private:
    struct fault {
        std::string name;
        clock::time_point until;
        bool* busy;
        std::function<void()> undo;
    };
    using milliseconds = std::chrono::milliseconds;

    void disturb_link();
    void disturb_worker();
    void disturb_server();

    void begin(const std::string& kind, const std::string& victim, bool& busy, milliseconds lasts,
               std::function<void()> undo);
    void note(const std::string& text);
    std::size_t any(std::size_t less_than);
    std::size_t any_client();
    milliseconds between(int least, int most);
    /// Of the session timeout.
    milliseconds percent(int least, int most);
    milliseconds some_time();

    zk_ensemble& ensemble_;
    crew& workers_;
    std::mt19937 random_;
    std::unique_ptr<bool[]> link_busy_, worker_busy_;
    bool servers_busy_ = false;
    clock::time_point servers_rest_until_{};
    std::vector<fault> under_way_;
    std::map<std::string, int> counts_;
    std::vector<std::string> diary_;
};

} // namespace paddock::test
