#pragma once

#include "observation/lock_series.hpp"
#include "observation/log_writer.hpp"
#include "observation/times.hpp"

#include <paddock/boot_clock.hpp>
#include <paddock/error.hpp>
#include <paddock/fencing_token.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace paddock::detail {

/// What a client tells of itself: counts it, and tells its observers, which are the log and perhaps
/// the user's. Strand only, unless marked "any thread".
class observers {
public:
    observers(std::shared_ptr<observer> user, log_function log);

    // Of a lock, at this path.
    void wait_begins(const counted_lock& lock, std::string_view path) noexcept;
    /// With the token of the grant, or with what the call completes with.
    void granted(const counted_lock& lock, std::string_view path, boot_clock::duration waited,
                 const fencing_token& token) noexcept;
    void not_granted(const counted_lock& lock, std::string_view path, boot_clock::duration waited,
                     wait_outcome how, error_code why) noexcept;
    void hold_ends(const counted_lock& lock, std::string_view path, boot_clock::duration held,
                   error_code why) noexcept;

    // Of a lease; of a hold's own one with the lock, else with null.
    void lease_renewed(const counted_lock* lock, std::string_view path,
                       boot_clock::duration left) noexcept;
    void lease_late(const counted_lock* lock, std::string_view path,
                    boot_clock::duration left) noexcept;
    void loop_delay(boot_clock::duration late) noexcept;

    template <typename Event>
    void tell(Event event) noexcept {
        if (!told_) return;
        try {
            event(*told_);
        } catch (...) {
            report_failure();
        }
    }
    bool wants_requests() const noexcept { return wants_requests_; }
    /// A line of the log.
    void trouble(const log_record& line) noexcept;

    /// The observer is not called any more: in a fork, and in the end of the execution context.
    void dismiss() noexcept { told_ = nullptr; }

    /// The client's part of its statistics; any thread.
    void copy_to(client_statistics& out) const;

private:
    void report_failure() noexcept;

    log_writer log_;
    std::shared_ptr<observer> user_;
    observer* told_; ///< null: nobody
    bool wants_requests_ = false;
    bool failure_reported_ = false;

    static constexpr std::size_t left = 0, delay = histogram_size, late = 2 * histogram_size;
    using numbers = counts<late + 1>;
    numbers all_;
};

} // namespace paddock::detail
