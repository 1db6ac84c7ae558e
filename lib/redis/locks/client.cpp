#include "client/drain.hpp"
#include "client/pending_call.hpp"
#include "client/shutdown_service.hpp"
#include "redis/locks/core.hpp"
#include "support/argument.hpp"
#include "support/asio_environment.hpp"

#include <paddock/redis/client.hpp>

#include <boost/asio/strand.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace paddock::redis {

namespace {

using namespace std::chrono_literals;

/// The limits are those of the options' documentation. With less than 100 ms a usual pause of the
/// event loop costs the holds; after a loss of data a server grants nothing for max_ttl, and nobody
/// waits for more than a day; 64 KiB have room for dozens of requests.
void check(const client_options& options) {
    using paddock::bad_argument;
    if (options.max_ttl > 24h)
        throw bad_argument("client_options::max_ttl", "is longer than a day");
    if (options.ttl < 100ms) throw bad_argument("client_options::ttl", "is shorter than 100 ms");
    if (options.ttl > options.max_ttl)
        throw bad_argument("client_options::ttl", "is longer than max_ttl");
    if (options.min_validity < 0ms || options.min_validity > options.ttl / 2)
        throw bad_argument("client_options::min_validity",
                           "is negative, or longer than half of ttl");
    if (options.max_bytes_queued < 64UL * 1024)
        throw bad_argument("client_options::max_bytes_queued", "is less than 64 KiB");
    const auto printable = [](char c) { return c > ' ' && c <= '~'; };
    if (options.label.size() > 64 ||
        !std::all_of(options.label.begin(), options.label.end(), printable))
        throw bad_argument("client_options::label",
                           "is longer than 64 characters, or has one that is not printable ASCII");
}

/// A list without TLS beside options for it is a mistake, and not a harmless one.
void choose_tls(client_options& options, const std::vector<rules::server>& servers) {
    const bool used =
        std::any_of(servers.begin(), servers.end(), [](auto& one) { return one.tls; });
    if (!used && options.tls)
        throw bad_argument("client_options::tls", "has no use: no server has rediss://");
    if (used && !options.tls) options.tls = tls(tls_files());
}

std::shared_ptr<detail::core> make_core(const asio::any_io_executor& io, std::string_view url,
                                        client_options options) {
    check(options);
    auto parsed = rules::parse_url(url);
    // The text has a password in it, perhaps.
    if (!parsed.fault.empty()) throw bad_argument("url", parsed.fault);
    choose_tls(options, parsed.servers);
    auto made = std::make_shared<detail::core>(
        io, detail::world{make_asio_environment(asio::make_strand(paddock::checked(io)))},
        std::move(parsed.servers), std::move(options));
    paddock::detail::end_with_context(made);
    return made;
}

/// Waits for a quorum of connected servers.
class connect_call final : public paddock::detail::pending_call<detail::core> {
public:
    using pending_call::pending_call;

    void wait(std::optional<std::chrono::nanoseconds> limit) {
        start_open([this, limit] {
            if (limit) set_limit(*limit);
            const auto self = std::static_pointer_cast<connect_call>(shared_from_this());
            waiter_ = client()->when_connected([self](error_code result) { self->finish(result); });
        });
    }

private:
    void cancelled() override { finish(asio::error::operation_aborted); }

    void set_limit(std::chrono::nanoseconds limit) {
        deadline_ = client()->env().make_timer();
        deadline_->arm(client()->now() + limit, [weak = weak_from_this(), this] {
            if (const auto alive = weak.lock()) finish(errc::not_connected);
        });
    }

    void finish(error_code result) {
        const auto self = shared_from_this();
        client()->stop_waiting(waiter_);
        deadline_.reset();
        complete(result);
    }

    std::uint64_t waiter_ = 0;
    std::unique_ptr<timer> deadline_;
};

} // namespace

client::client(asio::any_io_executor executor, std::string_view url, client_options options)
    : core_(make_core(executor, url, std::move(options))) {}

client::client(asio::any_io_executor executor, std::string_view url)
    : client(std::move(executor), url, client_options()) {}

client::client(core_ptr core) noexcept : core_(std::move(core)) {}

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

client::executor_type client::get_executor() const noexcept {
    return core_ ? core_->get_executor() : executor_type();
}

client_statistics client::statistics() const {
    return core_ ? core_->statistics() : client_statistics();
}

client_health client::health() const {
    return core_ ? core_->health() : client_health{.reason = "closed"};
}

void client::start_connect(paddock::detail::handler<void(error_code)> h, core_ptr core) {
    std::make_shared<connect_call>(std::move(core), std::move(h))->wait(std::nullopt);
}

void client::start_connect_for(paddock::detail::handler<void(error_code)> h, core_ptr core,
                               std::chrono::nanoseconds limit) {
    std::make_shared<connect_call>(std::move(core), std::move(h))->wait(limit);
}

void client::start_close(paddock::detail::handler<void(error_code)> h, core_ptr core) {
    core->post([core] { core->close_after_releases(); });
    const auto call = paddock::detail::make_pending_call(core, std::move(h));
    call->start([core, call] { core->when_ended([call] { call->complete({}); }); });
}

void client::start_drain(paddock::detail::handler<void(error_code)> h, core_ptr core,
                         std::chrono::nanoseconds limit) {
    paddock::detail::start_drain(std::move(h), core, limit);
}

} // namespace paddock::redis
