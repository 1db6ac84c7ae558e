#include "rules/paths.hpp"
#include "rules/servers.hpp"
#include "session/core.hpp"
#include "session/shutdown_service.hpp"
#include "support/argument.hpp"
#include "support/asio_environment.hpp"

#include <paddock/client.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace paddock {

namespace {

void check(const lease_options& lease, std::chrono::milliseconds session_timeout) {
    using namespace std::chrono_literals;
    const auto longest = session_timeout * 9 / 20;
    if (lease.tick_time < 0ms || lease.tick_time > longest)
        throw bad_argument("lease.tick_time",
                           "is negative, or longer than 9/20 of session_timeout");
    if (lease.margin < 0ms || lease.margin > session_timeout / 4)
        throw bad_argument("lease.margin", "is negative, or longer than 1/4 of session_timeout");
    if (lease.min_validity < 0ms || lease.min_validity > longest)
        throw bad_argument("lease.min_validity",
                           "is negative, or longer than 9/20 of session_timeout");
    if (lease.proof != lease_proof::sync) return;
    if (lease.tick_time == 0ms || lease.tick_time * 3 / 2 > longest)
        throw bad_argument("lease.tick_time",
                           "is needed for lease_proof::sync, up to 3/10 of session_timeout");
}

void check(const client_options& options) {
    using namespace std::chrono_literals;
    const auto& b = options.budgets;
    if (options.session_timeout < 100ms || options.session_timeout > 24h)
        throw bad_argument("session_timeout", "is not between 100 ms and 24 h");
    check(options.lease, options.session_timeout);
    if (b.node_path_bytes < 1024 || b.node_path_bytes > 1024 * 1024)
        throw bad_argument("budgets.node_path_bytes", "is not between 1 KiB and 1 MiB");
    if (b.watched_path_bytes < 1024 || b.watched_path_bytes > 512 * 1024)
        throw bad_argument("budgets.watched_path_bytes", "is not between 1 KiB and 512 KiB");
    if (b.requests_in_flight == 0)
        throw bad_argument("budgets.requests_in_flight", "allows no request");
    if (b.request_bytes_in_flight == 0)
        throw bad_argument("budgets.request_bytes_in_flight", "allows no request");
    for (const auto& who : options.auth)
        if (who.user.empty() || who.user.find(':') != std::string::npos)
            throw bad_argument("auth", "has a user that is empty or contains ':'");
}

std::string joined_root(const std::string& in_list, const std::string& in_options) {
    const auto root = in_options == "/" ? std::string() : in_options;
    if (!root.empty())
        if (const auto fault = rules::path_fault(root); !fault.empty())
            throw bad_argument("root", root, fault);
    if (!in_list.empty() && !root.empty())
        throw bad_argument("root", root, "is given twice: the server list ends in one too");
    return in_list + root;
}

std::vector<native::server_address> addresses(const std::vector<rules::server>& servers) {
    std::vector<native::server_address> out;
    for (const auto& one : servers) {
        error_code not_an_address;
        const auto parsed = asio::ip::make_address(one.host, not_an_address);
        static_cast<void>(parsed);
        out.push_back({one.host, one.port, !not_an_address});
    }
    return out;
}

std::shared_ptr<detail::core> make_core(asio::any_io_executor io, std::string_view list,
                                        client_options options) {
    check(options);
    auto parsed = rules::parse_servers(list);
    if (!parsed.fault.empty()) throw bad_argument("servers", list, parsed.fault);
    auto root = joined_root(parsed.root, options.root);
    detail::world outside{make_asio_environment(asio::make_strand(io)), &native::make_c_client};
    auto core =
        std::make_shared<detail::core>(std::move(io), std::move(outside), addresses(parsed.servers),
                                       std::move(root), std::move(options));
    detail::end_with_context(core);
    return core;
}

} // namespace

client::client(asio::any_io_executor executor, std::string_view servers, client_options options)
    : core_(make_core(std::move(executor), servers, std::move(options))) {}

client::client(asio::any_io_executor executor, std::string_view servers)
    : client(std::move(executor), servers, client_options()) {}

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
