#pragma once

#include "rules/outcome.hpp"
#include "session/core.hpp"
#include "support/bridge.hpp"

#include <paddock/error.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace paddock::detail {

inline error_code zookeeper_error(int code) noexcept {
    return code == 0 ? error_code() : error_code(code, zookeeper_category());
}

/// One request of the application from its start to its completion.
template <typename... Result>
class call final : public std::enable_shared_from_this<call<Result...>> {
public:
    using make = std::function<int(native::calls&, std::unique_ptr<native::completion>)>;
    using read = std::function<std::tuple<Result...>(const native::reply&)>;

    call(std::shared_ptr<core> client, handler<void(error_code, Result...)>&& h)
        : core_(std::move(client)), user_(core_->get_executor(), std::move(h)) {}

    /// Repeat it when its answer was lost: for what changes nothing.
    void repeatable() noexcept { repeatable_ = true; }
    /// What changes something, or asks the leader.
    void asks(answered_by who) noexcept { by_ = who; }
    /// Sees the raw answer before it is judged, and may turn it into an error. Also when the caller
    /// has been told already that the call was cancelled.
    std::function<error_code(const native::reply&)> on_answer;
    /// Hears that the call has failed after `begin`, just before the caller does.
    std::function<void(error_code)> on_failure;

    /// On any thread. `begin` runs on the strand, before the request is sent, and may prevent it.
    void launch(make m, read r, std::function<error_code()> begin = {}) {
        make_ = std::move(m);
        read_ = std::move(r);
        user_.on_cancel([weak = this->weak_from_this()] {
            const auto self = weak.lock();
            if (self) self->core_->post([self] { self->fail(asio::error::operation_aborted); });
        });
        core_->post([self = this->shared_from_this(), begin = std::move(begin)] {
            if (!self->user_) return;
            if (self->core_->closed()) return self->fail(self->core_->close_reason());
            if (const auto problem = begin ? begin() : error_code()) return self->fail(problem);
            self->begun_ = true;
            self->core_->start();
            self->send();
        });
    }

    /// On any thread, instead of launch().
    void refuse(error_code why) { fail(why); }

private:
    void send() {
        core_->gate().submit(
            lane::user, by_, 0,
            [self = this->shared_from_this()](native::calls& c,
                                              std::unique_ptr<native::completion> done) {
                return self->user_ ? self->make_(c, std::move(done)) : gate::unwanted;
            },
            [self = this->shared_from_this()](const native::reply& r) { self->answered(r); });
    }

    void answered(const native::reply& reply) {
        const auto result = rules::judge(rules::request::look, reply.rc);
        const bool not_sent = result == rules::outcome::not_sent;
        if (not_sent || result == rules::outcome::lost) {
            if (!user_) return;
            if (core_->closed()) return fail(core_->close_reason());
            if (not_sent || repeatable_) return send();
            return fail(errc::outcome_unknown);
        }
        const auto problem = on_answer ? on_answer(reply) : zookeeper_error(reply.rc);
        if (!user_) return;
        if (problem) return fail(problem);
        std::apply([&](auto&&... values) { user_.complete({}, std::move(values)...); },
                   read_(reply));
    }

    void fail(error_code why) {
        if (!user_) return;
        if (begun_ && on_failure) on_failure(why);
        user_.complete(why, Result{}...);
    }

    std::shared_ptr<core> core_;
    bridge<error_code, Result...> user_;
    make make_;
    read read_;
    answered_by by_ = answered_by::server;
    bool repeatable_ = false;
    bool begun_ = false;
};

} // namespace paddock::detail
