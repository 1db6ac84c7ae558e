#pragma once

#include "native/pump.hpp"
#include "rules/claims.hpp"
#include "session/budget.hpp"
#include "session/dispatcher.hpp"
#include "session/lease.hpp"
#include "session/sweeper.hpp"
#include "session/trouble_log.hpp"
#include "session/watch_table.hpp"
#include "session/young_holds.hpp"
#include "support/environment.hpp"

#include <paddock/client.hpp>
#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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

/// An object that a destructor releases from any thread without allocating. It contains the list's
/// link, and the reference that keeps it alive until the strand releases it.
class releasable {
public:
    virtual ~releasable() = default;
    virtual void release_on_strand() = 0; ///< on the strand

private:
    friend class core;
    std::shared_ptr<releasable> self_;
    releasable* next_ = nullptr;
};

/// The outside of a core; a simulation has its own.
struct world {
    std::unique_ptr<environment> env;
    std::function<std::unique_ptr<native::calls>()> make_calls;
    /// The clock of `env`; any thread, also after `env` is destroyed.
    lease_term::clock clock = &boot_clock::now;
};

/// The inside of a client: one ensemble, one session after the other. All methods on the strand,
/// but for those said to be for any thread.
class core final : public native::pump_user, public std::enable_shared_from_this<core> {
public:
    core(asio::any_io_executor io, world outside, std::vector<native::server_address> servers,
         std::string root, client_options options);
    ~core();

    // Any thread.
    /// No executor after the end of the execution context.
    asio::any_io_executor get_executor() const {
        const std::lock_guard lock(context_mutex_);
        return io_;
    }
    client_state state() const noexcept { return state_.load(std::memory_order_acquire); }
    std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
    std::int64_t session_id() const noexcept { return session_.load(std::memory_order_acquire); }
    std::chrono::milliseconds session_timeout() const noexcept {
        return std::chrono::milliseconds(timeout_.load(std::memory_order_acquire));
    }
    const client_options& options() const noexcept { return options_; }
    const std::string& root() const noexcept { return root_; }
    const std::vector<native::server_address>& servers() const noexcept { return servers_; }
    void post(unique_function<void()> task) {
        const std::lock_guard lock(context_mutex_);
        if (env_) env_->post(std::move(task)); // else the execution context is gone
    }
    /// Calls release_on_strand() on the strand; after the end of the client it only destroys the
    /// object.
    void release_later(std::shared_ptr<releasable> what) noexcept;

    // Strand only.
    environment& env() noexcept { return *env_; }
    class dispatcher& dispatcher() noexcept {
        return dispatcher_;
    }
    class lease& lease() noexcept {
        return lease_;
    }
    lease_term::clock clock() const noexcept { return clock_; }
    watch_table& watches() noexcept { return watches_; }
    class sweeper& sweeper() noexcept {
        return sweeper_;
    }
    rules::claims& claims() noexcept { return claims_; }
    budget& node_budget() noexcept { return nodes_; }
    class young_holds& young_holds() noexcept {
        return young_holds_;
    }

    /// Opens the first session; no effect later.
    void start();
    /// Drops the connection if another server is known.
    void change_server();
    bool closed() const noexcept { return state() == client_state::closed; }
    error_code close_reason() const noexcept { return close_reason_; }
    /// Completes all operations with `why`, then ends the session if there is a connection.
    void close(error_code why);
    /// Calls back when the server has closed the connection, or the wait for that has ended.
    void when_ended(unique_function<void()> done);
    void trouble(trouble_kind kind, std::string_view what) noexcept;

    /// Calls back with every state that is not `seen`, the present one included, until it returns
    /// false.
    using state_waiter_id = std::uint64_t; ///< 0: none
    state_waiter_id when_not(client_state seen, unique_function<bool(client_state)> changed);
    void stop_waiting(state_waiter_id id) { state_waiters_.erase(id); }

    /// Call before the first guard exists; release_later() needs it.
    void prepare_releases();
    /// Releases all objects that release_later() has received. A lock call runs it first, so that
    /// it finds the locks of destroyed guards free.
    void run_pending_releases() noexcept;

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

    /// The execution context is being destroyed: destroys what belongs to it.
    void shutdown() noexcept;
    /// In a forked child, after notify_fork: closes the client, and sends nothing.
    void after_fork() noexcept;

    // From the pump.
    void on_connected(std::uint64_t connection) noexcept override;
    void on_disconnected() noexcept override;
    void on_session_ended(error_code why) noexcept override;
    void on_watch(native::watch_type type, std::string_view path) noexcept override;
    void on_trouble(trouble_kind kind, std::string_view what) noexcept override {
        trouble(kind, what);
    }

private:
    struct state_waiter {
        client_state seen;
        unique_function<bool(client_state)> changed; ///< false: removes the waiter
    };
    using state_waiters = std::map<state_waiter_id, state_waiter>; // in the order of when_not()

    void open_session();
    void next_epoch();
    void stop_pump() noexcept;
    void set_state(client_state next);
    void end();
    void end_releases() noexcept;
    void take(releasable* newest) noexcept;
    template <typename Event>
    void notify(Event event);

    mutable std::mutex context_mutex_; ///< the strand changes io_ and env_ under it, in shutdown()
    asio::any_io_executor io_;
    std::unique_ptr<environment> env_;
    std::function<std::unique_ptr<native::calls>()> make_calls_;
    lease_term::clock clock_;
    std::vector<native::server_address> servers_;
    std::string root_;
    client_options options_;
    trouble_log log_{options_.log};

    std::atomic<client_state> state_{client_state::connecting};
    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::int64_t> session_{0};
    std::atomic<std::int64_t> timeout_{0};
    error_code close_reason_;
    state_waiters state_waiters_;
    state_waiter_id last_state_waiter_ = 0;

    class lease lease_;
    class dispatcher dispatcher_;
    watch_table watches_;
    rules::claims claims_;
    budget nodes_;
    class sweeper sweeper_;
    class young_holds young_holds_;
    std::shared_ptr<native::pump> pump_;
    std::map<std::type_index, std::unique_ptr<session_listener>> services_;
    std::vector<std::weak_ptr<session_listener>> listeners_; ///< besides the services
    std::size_t tidy_listeners_at_ = 64;

    /// The newest object in the list; &releases_ended after end_releases(): from then on the thread
    /// that releases an object destroys it.
    std::atomic<releasable*> pending_releases_{nullptr};
    std::unique_ptr<wakeup> wakeup_; ///< never reset: any thread may use it
    bool ended_ = false;
    std::vector<unique_function<void()>> end_callbacks_;
};

} // namespace paddock::detail
