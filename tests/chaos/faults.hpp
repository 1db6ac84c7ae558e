#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace paddock::test {

/// The random faults of one run, from a seed. Each has a victim without another fault at that time,
/// and ends after a while. Most last for about as long as a lock outlives its silent client.
class faults {
public:
    using clock = std::chrono::steady_clock;
    using milliseconds = std::chrono::milliseconds;

    faults(std::uint32_t seed, milliseconds lease) : random_(seed), lease_(lease) {}

    std::size_t any(std::size_t less_than);
    milliseconds between(int least, int most);
    /// Of the time that a lock outlives its silent client at most.
    milliseconds percent(int least, int most);
    /// Short enough to be survived, or so long that locks are lost.
    milliseconds some_time();

    /// One has begun. `undo` ends it; until then its victim is `busy`.
    void begin(const std::string& kind, const std::string& victim, bool& busy, milliseconds lasts,
               std::function<void()> undo);
    /// Ends the faults that are due; `all`: all of them.
    void take_back(bool all = false);

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

    void note(const std::string& text);

    std::mt19937 random_;
    milliseconds lease_;
    std::vector<fault> under_way_;
    std::map<std::string, int> counts_;
    std::vector<std::string> diary_;
};

} // namespace paddock::test
