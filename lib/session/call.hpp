#pragma once

#include "rules/outcome.hpp"
#include "session/session_call.hpp"

#include <paddock/error.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace paddock::detail {

/// Stands beside ZooKeeper's codes, which are all negative: errc::no_root.
inline constexpr int no_root_code = 1;

inline error_code zookeeper_error(int code) noexcept {
    if (code == no_root_code) return errc::no_root;
    return code == 0 ? error_code() : error_code(code, zookeeper_category());
}

/// An application call that consists of one request.
template <typename... Result>
class call final : public session_call<Result...> {
public:
    using read = std::function<std::tuple<Result...>(const native::reply&)>;

    using session_call<Result...>::client;
    using session_call<Result...>::open;

    call(std::shared_ptr<core> client, handler<void(error_code, Result...)>&& h)
        : session_call<Result...>(std::move(client), std::move(h)) {}

    /// Sends the request again if its answer is lost. For requests that change nothing.
    void repeatable() noexcept { repeatable_ = true; }
    /// Turns the answer into the call's error code. Runs even if the call was cancelled before the
    /// answer came.
    std::function<error_code(const native::reply&)> on_answer;
    /// Runs just before the call completes with an error, if `begin` was successful.
    std::function<void(error_code)> on_failure;

    /// Any thread. `begin` runs on the strand before the request is sent; if it returns an error,
    /// the call fails with that error, and the request is not sent.
    void start(std::shared_ptr<const request> what, read r,
               std::function<error_code()> begin = {}) {
        what_ = std::move(what);
        read_ = std::move(r);
        this->start_open([this, begin = std::move(begin)] {
            if (const auto problem = begin ? begin() : error_code()) return fail(problem);
            begun_ = true;
            send();
        });
    }

    void start(request what, read r, std::function<error_code()> begin = {}) {
        start(std::make_shared<const request>(std::move(what)), std::move(r), std::move(begin));
    }

    /// Any thread, instead of start().
    void refuse(error_code why) { fail(why); }

private:
    void send() {
        client()->dispatcher().submit(
            lane::user, what_,
            [self = this->shared_from_this(), this](const native::reply& r) { answered(r); },
            [this] { return open(); }); // the answer's callback keeps the call alive
        // Behind all that the program asked for before, and before what it asks for next.
        client()->dispatcher().send();
    }

    void answered(const native::reply& reply) {
        const auto result = rules::judge(rules::request_kind::look, reply.rc);
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
        session_call<Result...>::fail(why);
    }

    void cancelled() override { fail(asio::error::operation_aborted); }

    std::shared_ptr<const request> what_;
    read read_;
    bool repeatable_ = false;
    bool begun_ = false;
};

} // namespace paddock::detail
