#include "session/core.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {
/// The bytes of a SetWatches request besides its paths: length, xid, type, zxid and three counts
/// are 32. The rest is spare.
constexpr std::size_t request_envelope = 64;
} // namespace

core::core(asio::any_io_executor io, std::unique_ptr<environment> outside, lease_term::clock now,
           process_name process, std::vector<native::server_address> servers, std::string root,
           client_options options)
    : client_base(std::move(io), std::move(outside), now, options.log, options.observer)
    , process_(std::move(process))
    , first_servers_(std::move(servers))
    , root_(std::move(root))
    , options_(std::move(options))
    , traffic_(observers(), lease_)
    , lease_({env(), clock(), dispatcher_, log(), losses(), observers(),
              [this](boot_clock::time_point since) { on_silence(since); },
              [this] { tell_server_answers(); }},
             options_.lease)
    , dispatcher_(env(),
                  {options_.budgets.requests_in_flight, options_.budgets.request_bytes_in_flight,
                   std::min(batch::most_bytes, options_.max_request_bytes)},
                  traffic_)
    , watches_(dispatcher_, std::min(options_.budgets.watched_path_bytes,
                                     options_.max_request_bytes - request_envelope))
    , nodes_(std::min(options_.budgets.node_path_bytes, options_.max_request_bytes))
    , own_directories_(env(), dispatcher_)
    , sweeper_(env(), dispatcher_, claims_, nodes_, own_directories_, log())
    , young_holds_(env()) {}

void core::listen(std::weak_ptr<session_listener> listener) {
    if (listeners_.size() >= tidy_listeners_at_) {
        std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
        // When they have doubled, so that a tidying costs each listen() the same on average.
        tidy_listeners_at_ = 2 * listeners_.size() + fewest_tidied;
    }
    listeners_.push_back(std::move(listener));
}

void core::set_state(client_state next) {
    state_.store(next, std::memory_order_release);
    observers().tell([&](observer& by) { by.on_session(next, epoch(), server_); });
    state_waiters rest;
    for (auto& [id, waiter] : std::exchange(state_waiters_, {}))
        if (waiter.seen == next || waiter.changed(next)) rest.emplace(id, std::move(waiter));
    state_waiters_.merge(rest);
}

core::state_waiter_id core::when_not(client_state seen,
                                     unique_function<bool(client_state)> changed) {
    if (state() != seen && !changed(state())) return 0;
    state_waiters_.emplace(++last_state_waiter_, state_waiter{seen, std::move(changed)});
    return last_state_waiter_;
}

bool core::set_session(std::int64_t id, std::chrono::milliseconds timeout) {
    const bool fresh = id != session_id();
    if (fresh) {
        claims_.begin(id);
        session_.store(id, std::memory_order_release);
        epoch_.fetch_add(1, std::memory_order_acq_rel);
    }
    timeout_.store(timeout.count(), std::memory_order_release);
    return fresh;
}

void core::no_session() {
    session_.store(0, std::memory_order_release);
    timeout_.store(0, std::memory_order_release);
}

client_statistics core::statistics() const {
    auto all = common_statistics();
    all.state = state();
    all.epoch = epoch();
    all.disconnects = disconnects_;
    all.session_timeout = session_timeout();
    all.lease_remaining = lease_.remaining();
    all.watches = watches_.watched();
    all.deletes_pending = sweeper_.deletes_pending();
    all.orphans = sweeper_.orphans();
    all.node_path_bytes = nodes_.statistics();
    all.watched_path_bytes = watches_.statistics();
    auto& ensemble = all.servers.emplace_back();
    ensemble.server = server();
    ensemble.usable = all.state == client_state::connected;
    ensemble.requests_in_flight = dispatcher_.requests_in_flight();
    ensemble.bytes_in_flight = dispatcher_.bytes_in_flight();
    traffic_.copy_to(ensemble);
    return all;
}

client_health core::readiness() const {
    const auto connected_to = server();
    if (!begun_.load(std::memory_order_acquire))
        return {.reason = "no connection yet: connect() or the first operation begins one"};
    if (state() != client_state::connected)
        return {.reason =
                    epoch() == 0
                        ? "connecting: no server has accepted the client yet, it goes on trying"
                        : "no connection to the ensemble: the client goes on trying"};
    if (lease_.slow()) return {.reason = "the ensemble answers too late for a lock to be granted"};
    return {.ready = true, .reason = "connected to " + connected_to};
}

void core::tell_over_budget(std::string_view path) {
    trouble(log_code::over_budget,
            "there is no room for a node of the lock " + std::string(path) +
                ": the nodes of this client's locks use client_budgets::node_path_bytes up. Calls "
                "wait for releases, or give up. Raise it, or use several clients",
            path);
}

} // namespace paddock::detail
