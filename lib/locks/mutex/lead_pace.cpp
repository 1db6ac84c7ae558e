#include "locks/mutex/lead_pace.hpp"

#include "session/session_call.hpp"

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace paddock::detail {

namespace {

/// Work that ends sooner fails, or has nothing to do: then campaigns are rarer and rarer. A longer
/// term is no burden for the ensemble.
constexpr std::chrono::seconds short_term{1};

/// The text of an exception of the work. Empty for the result of the cancellation after a loss of
/// the leadership, which is no failure.
std::string text_of(const std::exception_ptr& failure, bool lost) {
    try {
        std::rethrow_exception(failure);
    } catch (const lock_lost_error& error) { // run() has added the loss to what the work threw
        const auto* const work = dynamic_cast<const std::nested_exception*>(&error);
        return lost && work && work->nested_ptr() ? text_of(work->nested_ptr(), lost)
                                                  : error.what();
    } catch (const system_error& error) {
        const bool cancelled = lost && error.code() == condition::cancelled;
        return cancelled ? std::string() : error.what();
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

/// Completes after the pause, or when the client closes.
class pause_call final : public session_call<> {
public:
    using pending_call::pending_call;

    void pause(std::shared_ptr<lead_pace> pace, std::exception_ptr failure) {
        start([this, pace = std::move(pace), failure = std::move(failure)] {
            pace->report(failure);
            wait(pace->next());
        });
    }

private:
    void wait(boot_clock::duration time) {
        if (time.count() == 0) return complete({});
        auto& env = client()->env();
        timer_ = env.make_timer();
        timer_->arm(env.now() + time, [weak = weak_from_this(), this] {
            if (const auto self = weak.lock()) finish({});
        });
        const auto self = std::static_pointer_cast<pause_call>(shared_from_this());
        waiter_ = client()->when_not(client_state::connecting, [self](client_state now) {
            if (now == client_state::closed) self->finish(self->client()->close_reason());
            return now != client_state::closed;
        });
    }

    void cancelled() override { finish(asio::error::operation_aborted); }

    void finish(error_code why) {
        timer_.reset();
        client()->stop_waiting(std::exchange(waiter_, 0));
        complete(why);
    }

    std::unique_ptr<timer> timer_;
    core::state_waiter_id waiter_ = 0;
};

} // namespace

boot_clock::duration lead_pace::next() {
    auto& env = lock_->client->env();
    const auto held = std::exchange(held_, {});
    if (held && env.now() - held->granted_at() < short_term) return backoff_.next(env);
    backoff_.reset();
    return {};
}

void lead_pace::report(const std::exception_ptr& failure) {
    const bool lost = held_ && held_->reason() != errc::released;
    const auto text = failure ? text_of(failure, lost) : std::string();
    if (!text.empty())
        lock_->client->trouble(log_code::work_failed,
                               "the work of the leader at " + lock_->directory +
                                   " failed: " + text + "; it campaigns again",
                               lock_->directory);
}

namespace {

void start_end_term(handler<void(error_code)> h, pace_ptr pace, std::exception_ptr failure) {
    const auto call = std::make_shared<pause_call>(pace->lock().client, std::move(h));
    call->pause(std::move(pace), std::move(failure));
}

} // namespace

void begin_term(const pace_ptr& pace, const guard& leadership) {
    pace->begin_term(access::hold_of(leadership));
}

asio::awaitable<void> end_term(const pace_ptr& pace, std::exception_ptr failure) {
    return initiate<void(error_code)>(pace->lock().client->get_executor(), default_token(),
                                      &start_end_term, pace, std::move(failure));
}

} // namespace paddock::detail

namespace paddock {

detail::pace_ptr election::make_pace() const { return std::make_shared<detail::lead_pace>(impl_); }

} // namespace paddock
