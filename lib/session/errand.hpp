#pragma once

#include "session/core.hpp"
#include "support/bridge.hpp"

#include <memory>
#include <utility>

namespace paddock::detail {

/// Who waits for the outcome of something that takes more than one request; empty when he has been
/// told, or does not wait any more.
template <typename... Result>
using asker = std::shared_ptr<bridge<error_code, Result...>>;

/// Starts something of that kind on the strand: `work(asker)`. Any thread.
template <typename... Result, typename Work>
void start_errand(std::shared_ptr<core> client, handler<void(error_code, Result...)>&& h,
                  Work work) {
    const auto user =
        std::make_shared<bridge<error_code, Result...>>(client->get_executor(), std::move(h));
    user->on_cancel([weak = std::weak_ptr(user), client] {
        const auto user = weak.lock();
        if (!user) return;
        client->post([user] {
            if (*user) user->complete(asio::error::operation_aborted, Result{}...);
        });
    });
    client->post([client, user, work = std::move(work)]() mutable {
        if (!*user) return;
        if (client->closed()) return user->complete(client->close_reason(), Result{}...);
        client->start();
        work(user);
    });
}

} // namespace paddock::detail
