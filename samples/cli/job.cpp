#include "job.hpp"

#include <paddock/first_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

/// So often a keeper that reads nothing may have much to do.
constexpr int patience = 3;

constexpr auto answer = asio::as_tuple(asio::use_awaitable);

} // namespace

asio::awaitable<void> wait_for_ever() {
    asio::steady_timer timer(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    co_await timer.async_wait(answer);
}

job::job(const asio::any_io_executor& executor, keeper started)
    : keeper_(started), socket_(executor, started.socket) {}

job::~job() {
    socket_.close(); // the keeper ends, when nothing is below it
    signal_keeper(running_ ? SIGCONT : SIGKILL);
    int status = 0;
    while (keeper_.pid != 0 && waitpid(keeper_.pid, &status, 0) < 0 && errno == EINTR) {
    }
}

void job::signal_keeper(int number) const {
    if (keeper_.pid != 0) kill(keeper_.pid, number);
}

void job::tell(message::kind what, std::int64_t value, std::string text) {
    send(socket_.native_handle(), {what, value, std::move(text)});
}

asio::awaitable<outcome> job::run(const holding& held, const run_options& how) {
    outcome result;
    running_ = true;
    tell(message::kind::lease, to_number(held.valid_until() - how.lease_every));
    tell(message::kind::run, std::chrono::nanoseconds(how.margin).count(), how.variables);
    auto lease =
        paddock::first_of(end_when_lost(held, result), keep_lease(held, how.lease_every, result));
    auto others =
        paddock::first_of(end_when_asked(held, result, how.quiet), end_in_time(how, result));
    auto all = paddock::first_of(std::move(lease), std::move(others));
    co_await paddock::first_of(await_end(result, how.quiet), std::move(all));
    running_ = false;
    co_return result;
}

asio::awaitable<void> job::await_end(outcome& result, bool quiet) {
    for (;;) {
        co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        const auto told = receive(socket_.native_handle());
        if (!told) {
            keeper_.pid = 0; // another process may get it
            co_await end_without_keeper();
            result.lost = result.keeper_gone = true;
            result.why = "the process that ends the command in time was killed";
            co_return;
        }
        switch (told->what) {
        case message::kind::cannot_run:
            result.cannot_run = static_cast<int>(told->value);
            break;
        case message::kind::lapsed:
            result.lost = true;
            result.why = "the lock could not be confirmed for too long";
            break;
        case message::kind::exited:
            if (!quiet)
                std::cerr << "paddock: the command has ended; its other processes keep the lock\n";
            break;
        case message::kind::ended:
            result.status = static_cast<int>(told->value);
            co_return;
        default:
            break;
        }
    }
}

asio::awaitable<void> job::end_when_lost(const holding& held, outcome& result) {
    const auto why = co_await held.lost();
    if (!why) co_return; // cancelled
    if (!result.lost) result.why = why.message();
    result.lost = true;
    // With a lapse the keeper kills when the lease ends. Otherwise somebody else may hold the lock.
    const bool time_is_left = why == paddock::errc::lease_lapsed;
    signal_keeper(SIGCONT);
    tell(message::kind::lost, to_number(time_is_left ? never : boot_clock::now()));
    co_await wait_for_ever();
}

/// A keeper that somebody has stopped goes on. One that does not, and should end everything, is
/// killed: then this process does that.
asio::awaitable<void> job::keep_lease(const holding& held, std::chrono::milliseconds every,
                                      const outcome& result) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int unread_for = 0;;) {
        const auto until = held.valid_until() - every;
        const bool ends = result.lost || until <= boot_clock::now();
        unread_for = all_is_read(socket_.native_handle()) ? 0 : unread_for + 1;
        if (!ends) tell(message::kind::lease, to_number(until));
        signal_keeper(ends && unread_for > patience ? SIGKILL : SIGCONT);
        timer.expires_after(every);
        const auto [cancelled] = co_await timer.async_wait(answer);
        if (cancelled) co_return;
    }
}

asio::awaitable<void> job::end_when_asked(const holding& held, outcome& result, bool quiet) {
    result.asked = co_await held.asked();
    if (result.asked) {
        if (!quiet) std::cerr << "paddock: somebody asks for the lock; the command gets SIGTERM\n";
        tell(message::kind::terminate, to_number(never));
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() == asio::cancellation_type::none) co_await wait_for_ever();
}

asio::awaitable<void> job::end_in_time(const run_options& how, outcome& result) {
    if (how.at_most) {
        asio::steady_timer timer(co_await asio::this_coro::executor, *how.at_most);
        const auto [cancelled] = co_await timer.async_wait(answer);
        if (cancelled) co_return;
        result.too_long = true;
        tell(message::kind::terminate, to_number(boot_clock::now() + how.margin));
    }
    co_await wait_for_ever();
}

/// Its processes are this one's now. The lock is held meanwhile: some may be another user's.
asio::awaitable<void> job::end_without_keeper() const {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    int status = 0;
    while (below_.signal(SIGKILL) > 0 || waitpid(-1, &status, WNOHANG) >= 0) {
        pause.expires_after(std::chrono::milliseconds(2));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

} // namespace cli
