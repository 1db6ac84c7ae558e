// Tells who waits where it stands in the queue: on a terminal one line that changes, else a line
// for each change.
#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/contender.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace cli {

/// Who that is, for people: label, host and process; what is not known is left out.
std::string describe(const paddock::contender& one);
/// As 0:07, 1:02:03.
std::string describe(paddock::boot_clock::duration time);

class waiting_line {
public:
    waiting_line(std::string lock, bool quiet);
    waiting_line(const waiting_line&) = delete;
    waiting_line& operator=(const waiting_line&) = delete;
    ~waiting_line();

    bool wanted() const { return !quiet_; }
    void show(std::size_t ahead, const std::optional<paddock::contender>& holder);
    /// Of an election.
    void show_leader(const paddock::contender& leader);
    /// Removes the line from the terminal.
    void clear();

private:
    void show(const std::string& text);

    const std::string lock_;
    const bool quiet_, terminal_;
    const paddock::boot_clock::time_point begin_ = paddock::boot_clock::now();
    std::string told_{};
};

} // namespace cli
