#include "locks/fair/ticket_state.hpp"

#include <paddock/ticket.hpp>

#include <utility>

namespace paddock {

ticket::ticket(state_ptr state) noexcept : state_(std::move(state)) {}

ticket::~ticket() {
    if (!state_) return;
    auto* const client = state_->client().get();
    client->release_later(std::move(state_));
}

ticket& ticket::operator=(ticket&& other) noexcept {
    ticket moved(std::move(other)); // `other` may be this ticket
    std::swap(state_, moved.state_);
    return *this;
}

std::size_t ticket::position() const noexcept { return state_ ? state_->position() : 0; }

asio::any_io_executor ticket::executor() const noexcept {
    return state_ ? state_->client()->get_executor() : asio::any_io_executor();
}

void ticket::start_holder(detail::handler<void(error_code, std::optional<contender>)> h,
                          state_ptr state) {
    state->find_holder(std::move(h));
}

namespace {

/// One call of next_change().
class position_call final : public detail::session_call<std::size_t> {
public:
    position_call(std::shared_ptr<detail::ticket_state> of,
                  detail::handler<void(error_code, std::size_t)>&& h)
        : pending_call(of->client(), std::move(h)), of_(std::move(of)) {}

private:
    void cancelled() override {
        fail(asio::error::operation_aborted);
        of_->forget(*this);
    }

    const std::shared_ptr<detail::ticket_state> of_;
};

} // namespace

void ticket::start_next_change(detail::handler<void(error_code, std::size_t)> h, state_ptr state) {
    const auto call = std::make_shared<position_call>(state, std::move(h));
    call->start([state, call, seen = state->position()] { state->when_changed(call, seen); });
}

void ticket::start_acquired(detail::handler<void(error_code, guard)> h, ticket whole) {
    const auto state = std::move(whole.state_);
    const auto call = std::make_shared<detail::ticket_call<guard>>(state, std::move(h));
    call->start([state, call] { state->deliver(call); });
}

} // namespace paddock
