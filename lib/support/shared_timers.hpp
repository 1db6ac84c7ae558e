#pragma once

#include "support/environment.hpp"

#include <cstdint>
#include <memory>

namespace paddock {

/// Makes timers that share one timer of the environment. Most of them are cancelled before they
/// fire; here that costs the event loop nothing. Strand only.
class shared_timers {
public:
    explicit shared_timers(environment& env);

    std::unique_ptr<timer> make();
    /// The timers that exist do nothing any more, and the environment may be destroyed.
    void clear() noexcept;

private:
    struct schedule;
    class part;

    std::shared_ptr<schedule> schedule_;
};

} // namespace paddock
