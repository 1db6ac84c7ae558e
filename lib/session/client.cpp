#include "client/drain.hpp"
#include "native/c_library.hpp"
#include "session/make_core.hpp"
#include "session/root_check.hpp"
#include "session/session_call.hpp"
#include "support/argument.hpp"
#include "support/asio_environment.hpp"

#include <paddock/client.hpp>

#include <boost/asio/strand.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace paddock {

client::client(asio::any_io_executor executor, std::string_view servers, client_options options)
    : node_operations(detail::make_core(
          executor,
          {make_asio_environment(asio::make_strand(checked(executor))), &native::make_c_client},
          servers, std::move(options))) {
    native::require_single_threaded_c_client();
}

client::client(asio::any_io_executor executor, std::string_view servers)
    : client(std::move(executor), servers, client_options()) {}

client::client(core_ptr core) noexcept : node_operations(std::move(core)) {}

client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
    auto core = std::move(other.core_); // it may be ours
    const client old(std::move(*this));
    core_ = std::move(core);
    return *this;
}

client::~client() {
    if (core_) core_->post([core = core_] { core->close_after_releases(); });
}

client_state client::state() const noexcept {
    return core_ ? core_->state() : client_state::closed;
}
std::uint64_t client::epoch() const noexcept { return core_ ? core_->epoch() : 0; }
std::int64_t client::session_id() const noexcept { return core_ ? core_->session_id() : 0; }
std::chrono::milliseconds client::session_timeout() const noexcept {
    return core_ ? core_->session_timeout() : std::chrono::milliseconds(0);
}

std::chrono::nanoseconds client::lease_remaining() const {
    return core_ ? core_->lease().remaining() : std::chrono::nanoseconds(0);
}
boot_clock::time_point client::last_answer() const noexcept {
    return core_ ? core_->lease().last_answer() : boot_clock::time_point();
}
std::string client::server() const { return core_ ? core_->server() : std::string(); }

client_statistics client::statistics() const {
    return core_ ? core_->statistics() : client_statistics();
}
client_health client::health() const {
    return core_ ? core_->health() : client_health{.reason = "closed"};
}

void client::set_servers(std::string_view servers) {
    if (!core_) return;
    core_->post([core = core_, all = detail::new_servers(servers, core_->root())]() mutable {
        core->set_servers(std::move(all));
    });
}

void client::start_close(detail::handler<void(error_code)> h, core_ptr core) {
    core->post([core] { core->close_after_releases(); });
    const auto call = detail::make_pending_call(core, std::move(h));
    call->start([core, call] { core->when_ended([call] { call->complete({}); }); });
}

void client::start_drain(detail::handler<void(error_code)> h, core_ptr core,
                         std::chrono::nanoseconds limit) {
    detail::start_drain(std::move(h), core, limit);
}

namespace {

/// Waits for a state other than `seen` that meets the condition.
template <typename... Result>
class state_wait final : public detail::session_call<Result...> {
public:
    using condition = error_code (*)(const detail::core&, client_state, bool& met);
    using detail::session_call<Result...>::session_call;
    using detail::session_call<Result...>::client;

    void wait(client_state seen, condition check,
              std::optional<std::chrono::nanoseconds> limit = std::nullopt) {
        this->start([this, seen, check, limit] {
            client()->start();
            if (limit) set_limit(*limit);
            if (seen == client_state::closed && client()->closed())
                return finish(client()->close_reason()); // closed is the last state
            waiter_ = client()->when_not(seen, [self = self(), check](client_state now) {
                bool met = false;
                const auto result = check(*self->client(), now, met);
                if (met) self->reached(result);
                return !met;
            });
        });
    }

private:
    std::shared_ptr<state_wait> self() {
        return std::static_pointer_cast<state_wait>(this->shared_from_this());
    }

    void cancelled() override { finish(asio::error::operation_aborted); }

    void set_limit(std::chrono::nanoseconds limit) {
        deadline_ = client()->env().make_timer();
        deadline_->arm(client()->env().now() + limit, [weak = this->weak_from_this(), this] {
            if (const auto alive = weak.lock()) finish(errc::not_connected);
        });
    }

    /// A client is connected once its root is known to exist, too.
    void reached(error_code result) {
        if constexpr (sizeof...(Result) == 0)
            if (!result && !client()->root().empty())
                return client()->template use<detail::root_check>().when_known(
                    [self = self()](error_code missing) { self->finish(missing); });
        finish(result);
    }

    void finish(error_code result) {
        client()->stop_waiting(std::exchange(waiter_, 0));
        deadline_.reset();
        if constexpr (sizeof...(Result) == 0)
            this->complete(result);
        else
            this->complete(result, client()->state());
    }

    detail::core::state_waiter_id waiter_ = 0;
    std::unique_ptr<timer> deadline_;
};

} // namespace

namespace {

error_code connected_or_closed(const detail::core& c, client_state now, bool& met) {
    met = now == client_state::connected || now == client_state::closed;
    return now == client_state::closed ? c.close_reason() : error_code();
}

} // namespace

void client::start_connect(detail::handler<void(error_code)> h, core_ptr core) {
    const auto wait = std::make_shared<state_wait<>>(core, std::move(h));
    wait->wait(client_state::connecting, &connected_or_closed);
}

void client::start_connect_for(detail::handler<void(error_code)> h, core_ptr core,
                               std::chrono::nanoseconds limit) {
    const auto wait = std::make_shared<state_wait<>>(core, std::move(h));
    wait->wait(client_state::connecting, &connected_or_closed, limit);
}

void client::start_next_state(detail::handler<void(error_code, client_state)> h, core_ptr core,
                              client_state seen) {
    if (!is_enumerator(seen, client_state::closed))
        return detail::make_pending_call(std::move(core), std::move(h))
            ->fail(refused_argument("seen", "is none of its enumerators"));
    const auto wait = std::make_shared<state_wait<client_state>>(core, std::move(h));
    wait->wait(seen, [](const detail::core&, client_state, bool& met) -> error_code {
        met = true;
        return {};
    });
}

} // namespace paddock
