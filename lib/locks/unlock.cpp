#include "locks/unlock.hpp"

#include "session/core.hpp"
#include "support/bridge.hpp"

#include <utility>

namespace paddock::detail {

namespace {

/// Waits for the end of a delete that goes on without it.
class farewell final : public std::enable_shared_from_this<farewell> {
public:
    farewell(std::shared_ptr<hold> held, handler<void(error_code)>&& h)
        : hold_(std::move(held))
        , client_(hold_->client())
        , user_(client_->get_executor(), std::move(h)) {}

    void launch() {
        user_.on_cancel([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->client_->post([self] { self->finish(asio::error::operation_aborted); });
        });
        client_->post([self = shared_from_this()] { self->begin(); });
    }

private:
    void begin() {
        client_->take_returns(); // another guard may have gone before
        const bool was_lost = !hold_->valid();
        hold_->release();
        if (was_lost) return finish(errc::lock_lost);
        hold_->when_gone([self = shared_from_this()](error_code why) { self->finish(why); });
    }

    void finish(error_code why) {
        if (user_) user_.complete(why);
    }

    std::shared_ptr<hold> hold_;
    std::shared_ptr<core> client_;
    bridge<error_code> user_;
};

} // namespace

void unlock(std::shared_ptr<hold> held, handler<void(error_code)> h) {
    std::make_shared<farewell>(std::move(held), std::move(h))->launch();
}

} // namespace paddock::detail
