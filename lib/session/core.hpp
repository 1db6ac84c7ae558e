#pragma once

#include "client/client_base.hpp"
#include "native/pump.hpp"
#include "rules/claims.hpp"
#include "rules/request_bytes.hpp"
#include "session/dispatcher.hpp"
#include "session/lease.hpp"
#include "session/own_directories.hpp"
#include "session/retry_pauses.hpp"
#include "session/scout.hpp"
#include "session/sweeper.hpp"
#include "session/watch_table.hpp"
#include "session/young_holds.hpp"
#include "support/budget.hpp"
#include "support/environment.hpp"
#include "support/process_name.hpp"

#include <paddock/client.hpp>
#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <vector>

namespace paddock::detail {

/// Receives the session's events on the strand. During on_connected() the dispatcher sends nothing;
/// the requests that listeners submit there follow the urgent ones.
class session_listener {
public:
    virtual ~session_listener() = default;
    virtual void on_connected() = 0;
    virtual void on_suspended() = 0;
    virtual void on_expired() = 0;
    virtual void on_closed(error_code why) = 0;
};

/// The bytes of the node budget that a sequential node uses: its path, as the transaction that ends
/// its session contains it.
inline std::size_t node_bytes(std::string_view directory, std::string_view prefix) noexcept {
    constexpr std::size_t slash = 1, longest_sequence = 11; // a sign, 10 digits
    return directory.size() + slash + prefix.size() + longest_sequence + rules::length_field;
}

/// The outside of a core; a simulation has its own.
struct world {
    std::unique_ptr<environment> env;
    std::function<std::unique_ptr<native::calls>()> make_calls;
    /// The clock of `env`; any thread, also after `env` is destroyed.
    lease_term::clock clock = &boot_clock::now;
    process_name process = this_process();
};

/// The inside of a client: one ensemble, one session after the other. All methods on the strand,
/// but for those said to be for any thread.
class core final : public client_base,
                   public native::pump_user,
                   public std::enable_shared_from_this<core> {
public:
    core(asio::any_io_executor io, world outside, std::vector<native::server_address> servers,
         std::string root, client_options options);
    ~core() override;

    // Any thread.
    client_state state() const noexcept { return state_.load(std::memory_order_acquire); }
    std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
    std::int64_t session_id() const noexcept { return session_.load(std::memory_order_acquire); }
    std::chrono::milliseconds session_timeout() const noexcept {
        return std::chrono::milliseconds(timeout_.load(std::memory_order_acquire));
    }
    const client_options& options() const noexcept { return options_; }
    const std::string& root() const noexcept { return root_; }
    /// That has made the client.
    const process_name& process() const noexcept { return process_; }
    /// Of the constructor, whatever set_servers() has got.
    const std::vector<native::server_address>& first_servers() const noexcept {
        return first_servers_;
    }

    // Strand only.
    class dispatcher& dispatcher() noexcept {
        return dispatcher_;
    }
    class lease& lease() noexcept {
        return lease_;
    }
    class own_directories& own_directories() noexcept {
        return own_directories_;
    }
    watch_table& watches() noexcept { return watches_; }
    class sweeper& sweeper() noexcept {
        return sweeper_;
    }
    rules::claims& claims() noexcept { return claims_; }
    budget& node_budget() noexcept { return nodes_; }
    class young_holds& young_holds() noexcept {
        return young_holds_;
    }
    class retry_pauses& retry_pauses() noexcept {
        return retry_pauses_;
    }

    /// Opens the first session; no effect later.
    void start() override;
    void set_servers(std::vector<native::server_address> servers);
    /// The connected server has not answered since then.
    void on_silence(boot_clock::time_point since);
    /// A server answers, perhaps after silence.
    void on_server_answers() noexcept;
    void tell_recovery() noexcept;
    /// The budget for nodes has no room for a node of this lock now.
    void tell_over_budget(std::string_view path);
    /// Completes all operations with `why`, then ends the session if there is a connection.
    void close(error_code why) override;
    /// While it closes: sends a request whose answer nobody awaits, if there is a connection.
    void send_last(const request& what);

    /// Calls back with every state that is not `seen`, the present one included, until it returns
    /// false.
    using state_waiter_id = std::uint64_t; ///< 0: none
    state_waiter_id when_not(client_state seen, unique_function<bool(client_state)> changed);
    void stop_waiting(state_waiter_id id) { state_waiters_.erase(id); }

    /// The client's one object of this type, as with asio::use_service(): the first call makes it,
    /// with the core as its argument. It receives the session's events
    /// before the other listeners.
    template <typename Service>
    Service& use() {
        auto& slot = services_[typeid(Service)];
        if (!slot) slot = std::make_unique<Service>(*this);
        return static_cast<Service&>(*slot);
    }
    /// The listener receives the session's events as long as it lives.
    void listen(std::weak_ptr<session_listener> listener);

    // From the pump.
    void on_connected(std::uint64_t connection) noexcept override;
    void on_disconnected() noexcept override;
    void on_session_ended(error_code why) noexcept override;
    void on_watch(native::watch_type type, std::string_view path) noexcept override;
    void on_refused() noexcept override;
    void on_sending() noexcept override { dispatcher_.take_turn(); }
    void on_trouble(log_code code, std::string_view what) noexcept override;

private:
    struct state_waiter {
        client_state seen;
        unique_function<bool(client_state)> changed; ///< false: removes the waiter
    };
    using state_waiters = std::map<state_waiter_id, state_waiter>; // in the order of when_not()

    void open_session();
    native::pump_options pump_options() const;
    void next_epoch();
    void give_session_up();
    void dismiss_scout();
    void stop_pump() noexcept;
    void on_pump_ended();
    void tell_timeout() noexcept;
    void set_state(client_state next);
    void drop_connections() noexcept override;
    template <typename Event>
    void notify(Event event);

    std::function<std::unique_ptr<native::calls>()> make_calls_;
    const process_name process_;
    const std::vector<native::server_address> first_servers_;
    std::vector<native::server_address> servers_;
    std::string root_;
    client_options options_;
    rules::outage outage_;
    std::chrono::milliseconds told_timeout_{0}; ///< that the servers grant

    std::atomic<client_state> state_{client_state::connecting};
    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::int64_t> session_{0};
    std::atomic<std::int64_t> timeout_{0};
    state_waiters state_waiters_;
    state_waiter_id last_state_waiter_ = 0;

    class lease lease_;
    class dispatcher dispatcher_;
    watch_table watches_;
    rules::claims claims_;
    budget nodes_;
    class own_directories own_directories_;
    class sweeper sweeper_;
    class young_holds young_holds_;
    class retry_pauses retry_pauses_;
    std::shared_ptr<native::pump> pump_;
    boot_clock::time_point suspended_since_{};
    std::unique_ptr<timer> recovery_; ///< until an unsteady connection proves to be steady
    std::unique_ptr<scout> scout_;    ///< while the servers refuse the session, after its time
    std::optional<boot_clock::time_point> serve_others_since_; ///< while the scout is connected
    int refusals_since_ = 0;                                   ///< of this session, since then
    std::map<std::type_index, std::unique_ptr<session_listener>> services_;
    std::vector<std::weak_ptr<session_listener>> listeners_; ///< besides the services
    static constexpr std::size_t fewest_tidied = 64;         ///< listeners; fewer are no burden
    std::size_t tidy_listeners_at_ = fewest_tidied;
};

} // namespace paddock::detail
