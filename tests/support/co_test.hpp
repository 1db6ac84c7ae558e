#pragma once

#include "time_scale.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Test cases that are coroutines:
//
//     CO_TEST("a free mutex is granted at once") {
//         client c(executor, shared_server().address());
//         ...
//         co_await eventually([&] { return proxy.open() == 1; });
//     }
//
// The body runs on an io_context of its own, on the thread of the test, and may use
//   io        the asio::io_context&
//   executor  its any_io_executor
//   test      a co_context&, to change the limits
// It fails when it does not finish in a minute (longer under sanitizers), when no work is left that
// could ever resume it, when an exception escapes, and when the io_context still has work after the
// body and everything local to it are gone. CHECK and REQUIRE work as usual; keep `co_await` out of
// their arguments (g++ 12 miscompiles it in large expressions). Decorators work too:
// CO_TEST("…" * doctest::should_fail()); SUBCASE does not, because the body may run more than once:
// see co_context::each.

namespace paddock::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Limits of one coroutine test; its body may change them while it runs.
class co_context {
public:
    /// How long the body may take. Multiplied under sanitizers, as all limits.
    void time_limit(std::chrono::milliseconds limit) { limit_ = limit; }
    std::chrono::milliseconds time_limit() const { return scaled(limit_); }

    /// For tests that leave work running on purpose: it is destroyed with the io_context.
    void allow_leftover_work() { leftover_allowed_ = true; }
    bool leftover_allowed() const { return leftover_allowed_; }

    /// For tests with many similar rounds, each of which begins as if it were the first:
    ///     for (std::size_t n = 0; test.begin_round(n, 60); ++n)
    /// False when none is left. A test that is torn down skips the rounds before the one in which
    /// that happens, and the code behind the loop: put no co_await behind the last one.
    bool begin_round(std::size_t& number, std::size_t end) {
        if (teardown_round_ && std::exchange(arrived_, true)) {
            throw round_over();
        }
        number = teardown_round_.value_or(number);
        if (number < end) {
            rounds_.push_back({number, steps_});
        }
        return number < end;
    }

    /// Such rounds, one for each combination:
    ///     for (const auto& round : test.each(ways_out, places)) {
    ///         const auto& at = std::get<place>(round);
    template <class... Ranges>
    auto each(const Ranges&... choices);

    /// For tests with too many steps to be torn down after each: returns the second when the test
    /// is run for that.
    template <class Full, class Brief>
    std::common_type_t<Full, Brief> full_or_brief(Full full, Brief brief) {
        if (brief_) {
            return brief;
        }
        return full;
    }

private:
    friend class co_run;
    struct round {
        std::size_t number, first_step;
    };
    struct round_over {};

    std::chrono::milliseconds limit_ = 1min; // some start servers of their own
    bool leftover_allowed_ = false;
    std::size_t steps_ = 0; ///< the number of the handler that is run
    std::vector<round> rounds_;
    std::optional<std::size_t> teardown_round_; ///< the round in which the test is torn down
    bool arrived_ = false;
    bool brief_ = false;
};

/// What co_context::each goes through, once.
template <class... T>
class combinations {
public:
    combinations(co_context& test, std::vector<std::tuple<T...>> all)
        : test_(test), all_(std::move(all)) {}

    class iterator {
    public:
        explicit iterator(combinations& of) : of_(of) {}
        const std::tuple<T...>& operator*() const { return of_.all_[number_]; }
        void operator++() { ++number_; }
        bool operator!=(std::default_sentinel_t) {
            return of_.test_.begin_round(number_, of_.all_.size());
        }

    private:
        combinations& of_;
        std::size_t number_ = 0;
    };
    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() const { return {}; }

private:
    co_context& test_;
    std::vector<std::tuple<T...>> all_;
};

template <class... Ranges>
auto co_context::each(const Ranges&... choices) {
    std::vector<std::tuple<std::ranges::range_value_t<Ranges>...>> all;
    const std::size_t count = (std::size(choices) * ...);
    for (std::size_t n = 0; n < count; ++n) {
        auto rest = n;
        const auto next = [&](const auto& from) {
            return from[std::exchange(rest, rest / std::size(from)) % std::size(from)];
        };
        all.push_back({next(choices)...});
    }
    return combinations(*this, std::move(all));
}

std::string time_text(std::chrono::milliseconds time);

/// Runs the context until `done`; returns a fault, or nothing.
std::string run_until_done(asio::io_context& io, const std::function<bool()>& done,
                           const std::function<std::chrono::milliseconds()>& limit);

/// Runs an awaitable to its end on a context that no other thread runs, and returns its result.
/// Fails the test when it takes longer than the limit.
template <class T>
T run_with_deadline(asio::io_context& io, asio::awaitable<T> work,
                    std::chrono::milliseconds limit = 1min) {
    struct outcome {
        bool done = false;
        std::exception_ptr failure;
        std::conditional_t<std::is_void_v<T>, int, std::optional<T>> value{};
    };
    // Shared, because the coroutine may outlive this call if it is late.
    const auto result = std::make_shared<outcome>();
    if constexpr (std::is_void_v<T>) {
        asio::co_spawn(io, std::move(work), [result](std::exception_ptr failure) {
            result->failure = failure;
            result->done = true;
        });
    } else {
        asio::co_spawn(io, std::move(work), [result](std::exception_ptr failure, T value) {
            result->failure = failure;
            if (!failure) {
                result->value.emplace(std::move(value));
            }
            result->done = true;
        });
    }
    const auto problem = run_until_done(
        io, [&] { return result->done; }, [&] { return scaled(limit); });
    if (!problem.empty()) {
        FAIL("the awaitable " << problem);
    }
    if (result->failure) {
        std::rethrow_exception(result->failure);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(*result->value);
    }
}

/// Waits until the predicate is true, and fails the test if it is not in time; then `details` says
/// more. Looks again after 1 to 20 ms: for states that cannot be awaited.
asio::awaitable<void> eventually(std::function<bool()> predicate,
                                 std::chrono::milliseconds limit = 10s,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                 std::function<std::string()> details = {});
/// The same for a predicate that returns an awaitable.
asio::awaitable<void> eventually(std::function<asio::awaitable<bool>()> predicate,
                                 std::chrono::milliseconds limit = 10s,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                 std::function<std::string()> details = {});

using co_test_body = asio::awaitable<void> (*)(co_context&, asio::io_context&,
                                               asio::any_io_executor);

/// One run of a body on a context of its own.
class co_run {
public:
    enum class form { full, brief };

    /// The figures of a whole run.
    struct path {
        std::size_t steps; ///< handlers that were run
        std::vector<co_context::round> rounds;
    };

    explicit co_run(co_test_body body, form how = form::full);

    /// Runs it to its end, and checks how it ends.
    path to_end();

    /// Runs it up to the end of this step of a whole run, without the rounds before it.
    void up_to(std::size_t step, const path& whole);

private:
    std::string until(const std::function<bool()>& stop);

    co_context context;
    bool done = false;
    std::exception_ptr failure;
    asio::io_context io{1}; // last, so that its handlers are destroyed first
};

/// The steps after which a test is torn down, each once: any few of them are spread over the whole
/// way.
std::vector<std::size_t> teardown_steps(std::size_t count);

/// Runs the brief form of a test once as a whole, and then again and again, destroyed after another
/// of its steps each time, until the time is over.
void tear_down(co_test_body body, std::chrono::seconds limit);

/// PADDOCK_TEARDOWN=every: tests are torn down after every step, instead;
/// PADDOCK_TEARDOWN_SECONDS=3: after as many as that time allows, for each test.
void run_co_test(co_test_body body);

} // namespace paddock::test

#define CO_TEST(...) PADDOCK_CO_TEST(DOCTEST_ANONYMOUS(co_test_body_), __VA_ARGS__)

#define PADDOCK_CO_TEST(body, ...)                                                                 \
    static boost::asio::awaitable<void> body(paddock::test::co_context&, boost::asio::io_context&, \
                                             boost::asio::any_io_executor);                        \
    TEST_CASE(__VA_ARGS__* doctest::test_suite("coroutines")) {                                    \
        paddock::test::run_co_test(&body);                                                         \
    }                                                                                              \
    static boost::asio::awaitable<void> body(                                                      \
        [[maybe_unused]] paddock::test::co_context& test,                                          \
        [[maybe_unused]] boost::asio::io_context& io,                                              \
        [[maybe_unused]] boost::asio::any_io_executor executor)
