#pragma once

#include "client/client_base.hpp"
#include "support/handler_bridge.hpp"

#include <paddock/error.hpp>

#include <memory>
#include <utility>

namespace paddock::detail {

/// An application call that waits for its outcome. The outcome or a cancellation completes it,
/// once, on the client's strand. Derived classes implement the call. `Client` is a client_base.
///
/// Lifetime: the object that will complete the call keeps it alive. The caller's cancellation slot
/// does not, and may outlive the client.
template <typename Client, typename... Result>
class pending_call : public std::enable_shared_from_this<pending_call<Client, Result...>> {
public:
    pending_call(std::shared_ptr<Client> client, handler<void(error_code, Result...)>&& h)
        : client_(std::move(client)), user_(client_->get_executor(), std::move(h)) {}
    virtual ~pending_call() = default;

    /// Any thread, once, from the initiating function. Runs `work` on the strand, unless the call
    /// was completed before.
    template <typename Work>
    void start(Work work) {
        user_.on_cancel([weak = this->weak_from_this()] {
            if (const auto self = weak.lock()) self->cancel();
        });
        client_->post([self = this->shared_from_this(), work = std::move(work)]() mutable {
            if (self->open()) work();
        });
    }

    /// As start(), but connects if needed, and fails if the client is closed.
    template <typename Work>
    void start_open(Work work) {
        start([this, work = std::move(work)]() mutable {
            if (client_->closed()) return fail(client_->close_reason());
            client_->start();
            work();
        });
    }

    /// Any thread: as if the caller had cancelled the call.
    void cancel() {
        client_->post([self = this->shared_from_this()] {
            if (self->open()) self->cancelled();
        });
    }

    // Strand only.
    /// Whether it is not completed yet.
    virtual bool open() const noexcept { return static_cast<bool>(user_); }
    /// No effect if the call was completed before.
    virtual void complete(error_code why, Result... result) {
        if (user_) user_.complete(why, std::move(result)...);
    }
    void fail(error_code why) { complete(why, Result{}...); }

    const std::shared_ptr<Client>& client() const noexcept { return client_; } ///< any thread

protected:
    virtual void cancelled() { fail(asio::error::operation_aborted); }

private:
    std::shared_ptr<Client> client_;
    handler_bridge<error_code, Result...> user_;
};

template <typename Client, typename... Result>
std::shared_ptr<pending_call<Client, Result...>>
make_pending_call(std::shared_ptr<Client> client, handler<void(error_code, Result...)>&& h) {
    return std::make_shared<pending_call<Client, Result...>>(std::move(client), std::move(h));
}

/// A call that any client can have.
template <typename... Result>
using client_call_ptr = std::shared_ptr<pending_call<client_base, Result...>>;

} // namespace paddock::detail
