#pragma once

#include "native/pump.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace paddock::detail {

enum class scout_news {
    served,       ///< a server has opened a session, or has taken it up again
    disconnected, ///< the connection is lost
    ended         ///< the session is: the scout learns nothing more
};

/// Finds out whether servers that refuse a session would open another one: then they have lost
/// their data, or were set back to older data, and will never take that session back. A handle of
/// its own asks them, because the C client of the old one tells every server the last transaction
/// that it has seen. Strand only.
class scout final : private native::pump_user {
public:
    /// Calls `hear` with each of its news, in tasks of their own, from which it may be destroyed.
    scout(environment& env, std::unique_ptr<native::calls> table, native::pump_options options,
          unique_function<void(scout_news)> hear);
    ~scout();
    scout(const scout&) = delete;
    scout& operator=(const scout&) = delete;

    /// Ends its session, then calls `ended`, which may destroy the scout. Calls nothing else from
    /// now on. Without effect the second time.
    void end(unique_function<void()> ended);

private:
    void on_connected(std::uint64_t) noexcept override { tell(scout_news::served); }
    void on_disconnected() noexcept override { tell(scout_news::disconnected); }
    void on_session_ended(error_code) noexcept override { tell(scout_news::ended); }
    void on_refused() noexcept override {}
    void on_watch(native::watch_type, std::string_view) noexcept override {}
    void on_sending() noexcept override {}
    void on_trouble(log_code, std::string_view) noexcept override {}

    void tell(scout_news news) noexcept;

    environment& env_;
    std::shared_ptr<unique_function<void(scout_news)>> hear_;
    std::shared_ptr<native::pump> pump_;
};

} // namespace paddock::detail
