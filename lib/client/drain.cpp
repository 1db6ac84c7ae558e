#include "client/drain.hpp"

#include "client/pending_call.hpp"

#include <utility>

namespace paddock::detail {

void start_drain(handler<void(error_code)> h, const std::shared_ptr<client_base>& client,
                 std::chrono::nanoseconds limit) {
    const auto call = make_pending_call(client, std::move(h));
    call->start([] {}); // so that it can be cancelled
    client->post([client, call, limit] {
        const auto close = [client, call] {
            client->close_after_releases();
            const bool all = client->draining().nobody_holds();
            client->when_ended(
                [call, all] { call->complete(all ? error_code() : errc::lock_lost); });
        };
        if (client->closed()) return close();
        client->run_pending_releases();
        client->draining().begin(client->env().now() + limit, close);
    });
}

} // namespace paddock::detail
