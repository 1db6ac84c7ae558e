#pragma once

#include "rules/stuck.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <memory>
#include <string_view>

namespace paddock::detail {

class core;

/// Tells the log of calls that perhaps wait for themselves, of one lock: one timer for all of them,
/// which runs only while there may be any. Strand only.
class stuck_watch {
public:
    explicit stuck_watch(core& client) : core_(client) {}

    bool looks() const noexcept { return looks_; }
    /// Calls back when somebody who begins to wait now has waited for long.
    void begin(unique_function<void()> look);
    void stop() noexcept;

    /// How long that is: the session timeout.
    boot_clock::duration patience() const;
    /// What a look has shown; the next one is at its time.
    void tell(const rules::stuck_waiters& found, std::string_view what, std::string_view path,
              unique_function<void()> look);

private:
    void look_at(boot_clock::time_point when, unique_function<void()> look);

    core& core_;
    std::unique_ptr<timer> timer_;
    bool looks_ = false;
};

} // namespace paddock::detail
