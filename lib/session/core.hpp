#pragma once

#include "client/client_base.hpp"
#include "native/server_list.hpp"
#include "rules/claims.hpp"
#include "rules/request_bytes.hpp"
#include "session/dispatcher.hpp"
#include "session/lease.hpp"
#include "session/own_directories.hpp"
#include "session/retry_pauses.hpp"
#include "session/sweeper.hpp"
#include "session/traffic.hpp"
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
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace paddock::detail {

/// Receives the session's events on the strand. During on_connected() the dispatcher sends nothing;
/// the requests that listeners submit there follow the urgent ones.
class session_listener {
public:
    virtual ~session_listener() = default;
    virtual void on_connected() {}
    virtual void on_suspended() {}
    virtual void on_expired() {}
    virtual void on_closed(error_code) {}
};

/// The bytes of the node budget that a sequential node uses: its path, as the transaction that ends
/// its session contains it.
inline std::size_t node_bytes(std::string_view directory, std::string_view prefix) noexcept {
    constexpr std::size_t slash = 1, longest_sequence = 11; // a sign, 10 digits
    return directory.size() + slash + prefix.size() + longest_sequence + rules::length_field;
}

/// The inside of a client, as its locks and operations see it: the parts that they share, and the
/// state of one session after the other. session_keeper is the one class that derives from it: it
/// has the connection, and calls the protected methods. All methods on the strand, but for those
/// said to be for any thread.
class core : public client_base, public std::enable_shared_from_this<core> {
public:
    // Any thread.
    client_state state() const noexcept { return state_.load(std::memory_order_acquire); }
    std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
    std::int64_t session_id() const noexcept { return session_.load(std::memory_order_acquire); }
    std::chrono::milliseconds session_timeout() const noexcept {
        return std::chrono::milliseconds(timeout_.load(std::memory_order_acquire));
    }
    std::string server() const {
        const std::lock_guard lock(server_mutex_);
        return server_;
    }
    client_statistics statistics() const override;
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

    virtual void set_servers(std::vector<native::server_address> servers) = 0;
    /// While the client closes: sends a request whose answer nobody awaits, if there is a
    /// connection.
    virtual void send_last(const request& what) = 0;
    /// The budget for nodes has no room for a node of this lock now.
    void tell_over_budget(std::string_view path);

    /// Calls back with every state that is not `seen`, the present one included, until it returns
    /// false.
    using state_waiter_id = std::uint64_t; ///< 0: none
    state_waiter_id when_not(client_state seen, unique_function<bool(client_state)> changed);
    void stop_waiting(state_waiter_id id) { state_waiters_.erase(id); }

    /// The client's one object of this type, as with asio::use_service(): the first call makes it,
    /// with the core as its argument. It receives the session's events before the other listeners.
    template <typename Service>
    Service& use() {
        auto& slot = services_[typeid(Service)];
        if (!slot) slot = std::make_unique<Service>(*this);
        return static_cast<Service&>(*slot);
    }
    /// The listener receives the session's events as long as it lives.
    void listen(std::weak_ptr<session_listener> listener);

protected:
    core(asio::any_io_executor io, std::unique_ptr<environment> env, lease_term::clock clock,
         process_name process, std::vector<native::server_address> servers, std::string root,
         client_options options);

    /// The connected server has not answered since then.
    virtual void on_silence(boot_clock::time_point since) = 0;
    /// A server answers, perhaps after silence: a line in the log.
    virtual void tell_server_answers() noexcept = 0;

    /// A first connection is wanted.
    void begin_connecting() noexcept { begun_.store(true, std::memory_order_release); }
    /// The connected session. Returns whether it is a new one.
    bool set_session(std::int64_t id, std::chrono::milliseconds timeout);
    /// The connected server; empty: none.
    void set_server(std::string which) {
        const std::lock_guard lock(server_mutex_);
        server_ = std::move(which);
    }
    void lost_connection() noexcept { ++disconnects_; }
    void no_session(); ///< it has ended, and there is no new one yet
    void set_state(client_state next);
    void drop_state_waiters() { state_waiters_.clear(); } ///< after closed() there is no state
    void drop_services() { services_.clear(); }           ///< with the execution context
    /// Calls `event` for the services, then for the other listeners.
    template <typename Event>
    void notify(Event event) {
        for (const auto& [type, service] : services_)
            event(*service);
        const auto all = listeners_; // a call may add listeners
        for (const auto& one : all)
            if (const auto listener = one.lock()) event(*listener);
    }

private:
    struct state_waiter {
        client_state seen;
        unique_function<bool(client_state)> changed; ///< false: removes the waiter
    };
    client_health readiness() const override;
    boot_clock::duration patience() const noexcept override {
        const auto granted = session_timeout();
        return granted.count() > 0 ? granted : options_.session_timeout;
    }

    using state_waiters = std::map<state_waiter_id, state_waiter>; // in the order of when_not()

    const process_name process_;
    const std::vector<native::server_address> first_servers_;
    const std::string root_;
    const client_options options_;

    std::atomic<bool> begun_{false};
    std::atomic<client_state> state_{client_state::connecting};
    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::int64_t> session_{0};
    std::atomic<std::int64_t> timeout_{0};
    mutable std::mutex server_mutex_;
    std::string server_;
    state_waiters state_waiters_;
    state_waiter_id last_state_waiter_ = 0;

    gauge disconnects_;
    traffic traffic_;
    class lease lease_;
    class dispatcher dispatcher_;
    watch_table watches_;
    rules::claims claims_;
    budget nodes_;
    class own_directories own_directories_;
    class sweeper sweeper_;
    class young_holds young_holds_;
    class retry_pauses retry_pauses_;
    std::map<std::type_index, std::unique_ptr<session_listener>> services_;
    std::vector<std::weak_ptr<session_listener>> listeners_; ///< besides the services
    static constexpr std::size_t fewest_tidied = 64;         ///< listeners; fewer are no burden
    std::size_t tidy_listeners_at_ = fewest_tidied;
};

} // namespace paddock::detail
