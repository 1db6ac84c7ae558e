#pragma once

#include "client/hold.hpp"
#include "locks/fair/fair_lock.hpp"
#include "support/backoff.hpp"

#include <paddock/election.hpp>

#include <exception>
#include <memory>

namespace paddock::detail {

/// The pauses of one lead() between its terms: none after a long term, and after short ones each
/// longer than the one before, so that work that fails at once neither loads the ensemble nor keeps
/// the other candidates from leading.
class lead_pace {
public:
    explicit lead_pace(std::shared_ptr<const fair_lock> of) : lock_(std::move(of)) {}

    const fair_lock& lock() const noexcept { return *lock_; }
    /// The next term is that of this hold.
    void begin_term(std::shared_ptr<hold> held) { held_ = std::move(held); }
    /// The pause after the present term, which has ended. Strand only.
    boot_clock::duration next();
    /// Writes the exception of the work to the log. Strand only.
    void report(const std::exception_ptr& failure);

private:
    std::shared_ptr<const fair_lock> lock_;
    std::shared_ptr<hold> held_;
    backoff backoff_;
};

} // namespace paddock::detail
