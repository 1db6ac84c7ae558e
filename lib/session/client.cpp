#include "session/make_core.hpp"
#include "support/asio_environment.hpp"

#include <paddock/client.hpp>

#include <boost/asio/strand.hpp>

#include <utility>

namespace paddock {

client::client(asio::any_io_executor executor, std::string_view servers, client_options options)
    : core_(detail::make_core(
          executor, {make_asio_environment(asio::make_strand(executor)), &native::make_c_client},
          servers, std::move(options))) {}

client::client(asio::any_io_executor executor, std::string_view servers)
    : client(std::move(executor), servers, client_options()) {}

client::client(std::shared_ptr<detail::core> core) noexcept : core_(std::move(core)) {}

client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
    client old(std::move(*this));
    core_ = std::move(other.core_);
    return *this;
}

client::~client() {
    if (core_) core_->post([core = core_] { core->close(errc::closed); });
}

asio::any_io_executor client::get_executor() const { return core_->get_executor(); }
client_state client::state() const noexcept { return core_->state(); }
std::uint64_t client::epoch() const noexcept { return core_->epoch(); }
std::int64_t client::session_id() const noexcept { return core_->session_id(); }
std::chrono::milliseconds client::session_timeout() const noexcept {
    return core_->session_timeout();
}

void client::start_close(detail::handler<void(error_code)> h, core_ptr core) {
    detail::bridge<error_code> user(core->get_executor(), std::move(h));
    core->post([core, user = std::move(user)]() mutable {
        core->close(errc::closed);
        user.complete({});
    });
}

namespace {

/// Waits for a state that is not `seen` and that `enough` accepts.
template <typename... Result>
struct state_wait : std::enable_shared_from_this<state_wait<Result...>> {
    using judge = error_code (*)(const detail::core&, client_state, bool& enough);

    state_wait(std::shared_ptr<detail::core> c, detail::handler<void(error_code, Result...)>&& h)
        : core(std::move(c)), user(core->get_executor(), std::move(h)) {}

    void start(client_state seen, judge how) {
        user.on_cancel([weak = this->weak_from_this()] {
            const auto self = weak.lock();
            if (self) self->core->post([self] { self->finish(asio::error::operation_aborted); });
        });
        core->post([self = this->shared_from_this(), seen, how] {
            if (!self->user) return;
            self->core->start();
            if (seen == client_state::closed && self->core->closed())
                return self->finish(self->core->close_reason()); // there is no next state
            self->waits = self->core->when_not(seen, [self, how](client_state now) {
                bool enough = false;
                const auto result = how(*self->core, now, enough);
                if (enough) self->finish(result);
                return !enough;
            });
        });
    }

    void finish(error_code result) {
        if (!user) return;
        core->stop_waiting(std::exchange(waits, 0));
        if constexpr (sizeof...(Result) == 0)
            user.complete(result);
        else
            user.complete(result, core->state());
    }

    std::shared_ptr<detail::core> core;
    detail::bridge<error_code, Result...> user;
    detail::core::state_waiter_id waits = 0;
};

} // namespace

void client::start_connect(detail::handler<void(error_code)> h, core_ptr core) {
    const auto wait = std::make_shared<state_wait<>>(core, std::move(h));
    wait->start(client_state::connecting,
                [](const detail::core& c, client_state now, bool& enough) -> error_code {
                    enough = now == client_state::connected || now == client_state::closed;
                    return now == client_state::closed ? c.close_reason() : error_code();
                });
}

void client::start_next_state(detail::handler<void(error_code, client_state)> h, core_ptr core,
                              client_state seen) {
    const auto wait = std::make_shared<state_wait<client_state>>(core, std::move(h));
    wait->start(seen, [](const detail::core&, client_state, bool& enough) -> error_code {
        enough = true;
        return {};
    });
}

} // namespace paddock
