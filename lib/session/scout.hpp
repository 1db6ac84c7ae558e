#pragma once

#include "native/pump.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace paddock::detail {

/// Finds out whether servers that refuse a session would open another one: then they have lost
/// their data, or were set back to older data, and will never take that session back. A handle of
/// its own asks them, because the C client of the old one tells every server the last transaction
/// that it has seen. Strand only.
class scout final : private native::pump_user {
public:
    /// Calls `served`, in tasks of their own, with true when a server has opened a session, or has
    /// taken it up again, and with false when the connection is lost.
    scout(environment& env, std::unique_ptr<native::calls> table, native::pump_options options,
          unique_function<void(bool)> served);
    ~scout();
    scout(const scout&) = delete;
    scout& operator=(const scout&) = delete;

    /// Ends its session, then calls `ended`, which may destroy the scout. Calls nothing else from
    /// now on. Without effect the second time.
    void end(unique_function<void()> ended);

private:
    void on_connected(std::uint64_t) noexcept override { tell(true); }
    void on_disconnected() noexcept override { tell(false); }
    void on_session_ended(error_code) noexcept override {}
    void on_refused() noexcept override {}
    void on_watch(native::watch_type, std::string_view) noexcept override {}
    void on_sending() noexcept override {}
    void on_trouble(log_code, std::string_view) noexcept override {}

    void tell(bool serves) noexcept;

    environment& env_;
    std::shared_ptr<unique_function<void(bool)>> served_;
    std::shared_ptr<native::pump> pump_;
};

} // namespace paddock::detail
