#include "locks/lock_call.hpp"

#include <utility>

namespace paddock::detail {

lock_call::lock_call(std::shared_ptr<core> client, handler<void(error_code, guard)>&& h)
    : client_(std::move(client)), user_(client_->get_executor(), std::move(h)) {}

void lock_call::launch(std::optional<std::chrono::nanoseconds> limit) {
    user_.on_cancel([weak = std::weak_ptr(self())] {
        const auto self = weak.lock();
        if (!self) return;
        self->client().post([self] { self->abandon(asio::error::operation_aborted); });
    });
    client().post([self = self(), limit] { self->start(limit); });
}

void lock_call::start(std::optional<std::chrono::nanoseconds> limit) {
    if (!user_) return;
    if (client().closed()) return finish(client().close_reason(), {});
    client().start();
    client().take_returns();
    limited_ = limit.has_value();
    if (limited_ && limit->count() <= 0) return begin(true);
    if (limited_) {
        deadline_ = client().env().make_timer();
        deadline_->arm(client().env().now() + *limit, [weak = std::weak_ptr(self())] {
            if (const auto self = weak.lock()) self->abandon({});
        });
    }
    begin(false);
}

void lock_call::abandon(error_code why) {
    if (!user_) return;
    finish(why, {});
    abandoned();
}

void lock_call::finish(error_code why, guard result) {
    deadline_.reset();
    if (user_) user_.complete(why, std::move(result));
}

} // namespace paddock::detail
