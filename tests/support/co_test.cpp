#include "co_test.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace paddock::test {

namespace {

using std::chrono::steady_clock;

template <class Predicate>
asio::awaitable<void> wait_until(Predicate predicate, std::chrono::milliseconds limit,
                                 const char* file, int line, std::function<std::string()> details) {
    const auto end = steady_clock::now() + scaled(limit);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (auto pause = 1ms;; pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
        bool holds = false;
        if constexpr (std::is_same_v<std::invoke_result_t<Predicate&>, bool>) {
            holds = predicate();
        } else {
            holds = co_await predicate();
        }
        if (holds) {
            co_return;
        }
        if (steady_clock::now() >= end) {
            ADD_FAIL_AT(file, line,
                        "was not true within " << time_text(scaled(limit))
                                               << (details ? details() : ""));
        }
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

} // namespace

std::string time_text(std::chrono::milliseconds time) {
    if (time < 1s) {
        return std::to_string(time.count()) + " ms";
    }
    const auto tenths = time.count() / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string run_until_done(asio::io_context& io, const std::function<bool()>& done,
                           const std::function<std::chrono::milliseconds()>& limit) {
    const auto begin = steady_clock::now();
    while (!done()) {
        const auto end = begin + limit();
        if (steady_clock::now() >= end) {
            return "did not finish in " + time_text(limit());
        }
        io.restart();
        if (io.run_one_until(end) == 0 && steady_clock::now() < end) {
            return "is stuck: nothing is left that could resume it";
        }
    }
    return {};
}

asio::awaitable<void> eventually(std::function<bool()> predicate, std::chrono::milliseconds limit,
                                 const char* file, int line, std::function<std::string()> details) {
    return wait_until(std::move(predicate), limit, file, line, std::move(details));
}
asio::awaitable<void> eventually(std::function<asio::awaitable<bool>()> predicate,
                                 std::chrono::milliseconds limit, const char* file, int line,
                                 std::function<std::string()> details) {
    return wait_until(std::move(predicate), limit, file, line, std::move(details));
}

co_run::co_run(co_test_body body, form how) {
    context.brief_ = how == form::brief;
    asio::co_spawn(io, body(context, io, io.get_executor()), [this](std::exception_ptr e) {
        failure = e;
        done = true;
    });
}

co_run::path co_run::to_end() {
    const auto problem = until([] { return false; });
    if (!problem.empty()) {
        FAIL("the test " << problem);
    }
    if (failure) {
        std::rethrow_exception(failure);
    } // doctest reports it
    if (!context.leftover_allowed()) {
        io.restart();
        io.run_for(scaled(2s));
        if (!io.stopped()) {
            FAIL_CHECK("the test left work behind in its io_context");
        }
    }
    return {context.steps_ - 1, context.rounds_};
}

void co_run::up_to(std::size_t step, const path& whole) {
    const auto later =
        std::upper_bound(whole.rounds.begin(), whole.rounds.end(), step,
                         [](std::size_t at, const auto& one) { return at < one.first_step; });
    if (later != whole.rounds.begin()) {
        const auto& in = *std::prev(later);
        context.teardown_round_ = in.number;
        step = whole.rounds.front().first_step + (step - in.first_step);
    }
    until([&] { return context.steps_ > step; });
}

std::string co_run::until(const std::function<bool()>& stop) {
    return run_until_done(
        io, [&] { return ++context.steps_, done || stop(); }, [&] { return context.time_limit(); });
}

std::vector<std::size_t> teardown_steps(std::size_t count) {
    auto stride = std::max<std::size_t>(count * 5 / 8, 1);
    while (std::gcd(stride, count) != 1) {
        ++stride;
    }
    std::vector<std::size_t> steps;
    steps.reserve(count);
    for (std::size_t n = 0; n < count; ++n) {
        steps.push_back(1 + n * stride % count);
    }
    return steps;
}

void tear_down(co_test_body body, std::chrono::seconds limit) {
    const auto end = steady_clock::now() + limit;
    const auto whole = co_run(body, co_run::form::brief).to_end();
    for (const auto step : teardown_steps(std::max<std::size_t>(whole.steps, 1) - 1)) {
        // After a crash this is the only trace.
        std::fprintf(stderr, "teardown after %zu of %zu steps\n", step, whole.steps);
        co_run(body, co_run::form::brief).up_to(step, whole);
        if (steady_clock::now() > end) {
            return;
        }
    }
}

void run_co_test(co_test_body body) {
    if (!std::getenv("PADDOCK_TEARDOWN")) {
        co_run(body).to_end();
        return;
    }
    const auto* seconds = std::getenv("PADDOCK_TEARDOWN_SECONDS");
    tear_down(body, seconds ? std::chrono::seconds(std::stoi(seconds)) : 24h);
}

} // namespace paddock::test
