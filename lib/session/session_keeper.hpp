#pragma once

#include "native/pump.hpp"
#include "session/core.hpp"
#include "session/scout.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// The outside of a client; a simulation has its own.
struct world {
    std::unique_ptr<environment> env;
    std::function<std::unique_ptr<native::calls>()> make_calls;
    /// The clock of `env`; any thread, also after `env` is destroyed.
    lease_term::clock clock = &boot_clock::now;
    process_name process = this_process();
};

/// The core of a client with its connection: opens one session after the other with one ensemble,
/// and tells the parts of each session's events, in this order: the dispatcher and the lease, the
/// state, the sweeper and the own directories, the listeners; only then requests are sent. Strand
/// only.
class session_keeper final : public core, public native::pump_user {
public:
    session_keeper(asio::any_io_executor io, world outside,
                   std::vector<native::server_address> servers, std::string root,
                   client_options options);
    ~session_keeper() override;

    /// Opens the first session; no effect later.
    void start() override;
    void set_servers(std::vector<native::server_address> servers) override;
    void send_last(const request& what) override;
    /// Completes all operations with `why`, then ends the session if there is a connection.
    void close(error_code why) override;

    // From the pump.
    void on_connected(std::uint64_t connection) noexcept override;
    void on_disconnected() noexcept override;
    void on_session_ended(error_code why) noexcept override;
    void on_watch(native::watch_type type, std::string_view path) noexcept override;
    void on_refused() noexcept override;
    void on_sending() noexcept override { dispatcher().take_turn(); }
    void on_trouble(log_code code, std::string_view what) noexcept override;

private:
    // From the lease.
    void on_silence(boot_clock::time_point since) override;
    void tell_server_answers() noexcept override;

    std::shared_ptr<session_keeper> self() {
        return std::static_pointer_cast<session_keeper>(shared_from_this());
    }
    void open_session();
    native::pump_options pump_options() const;
    void next_epoch();
    void give_session_up();
    void dismiss_scout();
    void stop_pump() noexcept;
    void on_pump_ended();
    void tell_recovery() noexcept;
    void tell_timeout() noexcept;
    void drop_connections() noexcept override;

    std::function<std::unique_ptr<native::calls>()> make_calls_;
    std::vector<native::server_address> servers_;
    rules::outage outage_;
    std::chrono::milliseconds told_timeout_{0}; ///< that the servers grant

    std::shared_ptr<native::pump> pump_;
    boot_clock::time_point suspended_since_{};
    std::unique_ptr<timer> recovery_; ///< until an unsteady connection proves to be steady
    std::unique_ptr<scout> scout_;    ///< while the servers refuse the session, after its time
    std::optional<boot_clock::time_point> serve_others_since_; ///< while the scout is connected
    int refusals_since_ = 0;                                   ///< of this session, since then
};

} // namespace paddock::detail
