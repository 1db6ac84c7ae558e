#pragma once

#include "rules/outcome.hpp"
#include "session/pending_call.hpp"

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
class call final : public pending_call<Result...> {
public:
    using read = std::function<std::tuple<Result...>(const native::reply&)>;

    using pending_call<Result...>::client;
    using pending_call<Result...>::open;

    call(std::shared_ptr<core> client, handler<void(error_code, Result...)>&& h)
        : pending_call<Result...>(std::move(client), std::move(h)) {}

    /// Repeat it when its answer was lost: for what changes nothing.
    void repeatable() noexcept { repeatable_ = true; }
    /// Sees the raw answer before it is judged, and may turn it into an error. Also when the caller
    /// has been told already that the call was cancelled.
    std::function<error_code(const native::reply&)> on_answer;
    /// Hears that the call has failed after `begin`, just before the caller does.
    std::function<void(error_code)> on_failure;

    /// On any thread. `begin` runs on the strand, before the request is sent, and may prevent it.
    void launch(std::shared_ptr<const request> what, read r,
                std::function<error_code()> begin = {}) {
        what_ = std::move(what);
        read_ = std::move(r);
        this->start_open([this, begin = std::move(begin)] {
            if (const auto problem = begin ? begin() : error_code()) return fail(problem);
            begun_ = true;
            send();
        });
    }

    void launch(request what, read r, std::function<error_code()> begin = {}) {
        launch(std::make_shared<const request>(std::move(what)), std::move(r), std::move(begin));
    }

    /// On any thread, instead of launch().
    void refuse(error_code why) { fail(why); }

private:
    void send() {
        client()->dispatcher().submit(
            lane::user, what_,
            [self = this->shared_from_this(), this](const native::reply& r) { answered(r); },
            [this] { return open(); }); // the answer keeps the call
    }

    void answered(const native::reply& reply) {
        const auto result = rules::judge(rules::request::look, reply.rc);
        const bool not_sent = result == rules::outcome::not_sent;
        if (not_sent || result == rules::outcome::lost) {
            if (!open()) return;
            if (client()->closed()) return fail(client()->close_reason());
            if (not_sent || repeatable_) return send();
            return fail(errc::outcome_unknown);
        }
        const auto problem = on_answer ? on_answer(reply) : zookeeper_error(reply.rc);
        if (!open()) return;
        if (problem) return fail(problem);
        std::apply([&](auto&&... values) { this->complete({}, std::move(values)...); },
                   read_(reply));
    }

    void fail(error_code why) {
        if (!open()) return;
        if (begun_ && on_failure) on_failure(why);
        pending_call<Result...>::fail(why);
    }

    void cancelled() override { fail(asio::error::operation_aborted); }

    std::shared_ptr<const request> what_;
    read read_;
    bool repeatable_ = false;
    bool begun_ = false;
};

} // namespace paddock::detail
