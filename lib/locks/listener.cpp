#include "locks/listener.hpp"

#include <utility>

namespace paddock::detail {

listener_ptr make_listener(const std::shared_ptr<core>& client, handler<void(error_code)>&& h) {
    const auto who = std::make_shared<listener>(
        listener{bridge<error_code>(client->get_executor(), std::move(h))});
    who->user.on_cancel([weak = std::weak_ptr(who), client] {
        const auto self = weak.lock();
        if (!self) return;
        client->post([self] {
            if (self->user) self->user.complete(asio::error::operation_aborted);
        });
    });
    return who;
}

/// Who no longer waits is left behind, so that many short waits do not add up.
void listeners::add(listener_ptr who) {
    std::erase_if(all_, [](const listener_ptr& one) { return !one->user; });
    all_.push_back(std::move(who));
}

void listeners::tell(error_code what) {
    for (const auto& one : std::exchange(all_, {}))
        if (one->user) one->user.complete(what);
}

} // namespace paddock::detail
