#pragma once

#include "client/trouble_log.hpp"
#include "support/environment.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::detail {

/// Writes a line for each hold that was lost: of many the first three, and how many others. Strand
/// only.
class loss_log {
public:
    loss_log(environment& env, trouble_log& log) : env_(env), log_(log) {}

    /// The hold of the lock at `path` has ended for this reason, `held` after its grant and
    /// `unnoticed` before now.
    void add(std::string_view path, error_code why, boot_clock::duration held,
             boot_clock::duration unnoticed = {});
    /// The event loop stood still for so long, which has cost holds: before their lines.
    void stalled(boot_clock::duration time);
    /// The client closes: says what it still has to say.
    void close();
    /// The process is a fork, or its execution context ends: the log may be gone, or locked.
    void drop() noexcept;

private:
    void say_rest();

    environment& env_;
    trouble_log& log_;
    boot_clock::time_point period_end_{};
    int lines_ = 0;        ///< of the present period
    std::size_t rest_ = 0; ///< holds without a line
    std::string last_of_rest_;
    std::unique_ptr<timer> timer_;
    boot_clock::time_point stall_told_{};
};

} // namespace paddock::detail
