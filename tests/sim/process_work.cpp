// Calls that run a coroutine under the lock: with() and lead().
#include "sim/process_parts.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <functional>
#include <utility>

namespace paddock::test::sim {

namespace {

error_code code_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const system_error& e) {
        return e.code();
    }
}

} // namespace

/// Sleeps in virtual time. The call owns the handler, so that a process that dies destroys it.
asio::awaitable<void> process::sleep(call_ptr c, duration time) {
    const auto begin = [this, c, time](auto handler) {
        const auto user = std::make_shared<decltype(handler)>(std::move(handler));
        c->wake_up = [here = host_, user](error_code why) {
            asio::post(here->io(), [user, why] { std::move (*user)(why); });
            here->wake();
        };
        const auto end = [here = host_, weak = std::weak_ptr(c)](error_code why) {
            const auto self = weak.lock();
            if (!self || here->dead()) return;
            if (const auto wake = std::exchange(self->wake_up, {})) wake(why);
        };
        if (auto slot = asio::get_associated_cancellation_slot(*user); slot.is_connected())
            slot.assign([end](asio::cancellation_type) { end(asio::error::operation_aborted); });
        host_->time().after(time, [end] { end({}); });
    };
    asio::use_awaitable_t<> token;
    co_await asio::async_initiate<asio::use_awaitable_t<>, void(error_code)>(begin, token);
}

asio::awaitable<after_term> process::work(call_ptr c, guard& held) {
    struct released {
        ~released() { check.released(held); }
        checker& check;
        const guard* held;
    } const at_end{check_, &held};
    hold(c, held, lock_of(c->what.what), true, false);
    // The longest time of a hold can be shorter than this sleep.
    if (++c->terms > 3) co_return after_term::stop;
    co_await sleep(c, c->what.held_for);
    co_return c->terms < 2 ? after_term::campaign : after_term::stop;
}

asio::awaitable<void> process::run_under_lock(call_ptr c) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    const auto all_of_it = [this, c](guard& held) { return work(c, held); };
    if (c->what.what == job::campaign)
        co_await locks_->e.lead(all_of_it);
    else if (c->what.by_key)
        co_await locks_->family.with("a", all_of_it);
    else
        co_await locks_->a.with(all_of_it);
}

void process::ask_with_work(const call_ptr& c) {
    with_work_.push_back(c);
    asio::co_spawn(
        host_->io(), run_under_lock(c),
        asio::bind_cancellation_slot(c->stop.slot(), [this, c](const std::exception_ptr& failure) {
            must(++c->completions == 1, c->name + " is completed twice");
            const auto why = failure ? code_of(failure) : error_code();
            host_->time().note([&] { return c->name + " ends: " + why.message(); });
            const bool expected = !why || why == asio::error::operation_aborted ||
                                  why == errc::lock_lost || (left_ && why == errc::closed);
            must(expected, c->name + " fails: " + why.message());
            done(c);
        }));
}

} // namespace paddock::test::sim
