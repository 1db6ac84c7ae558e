// The test support itself: coroutine tests end, fail and clean up as they should.

#include "support/co_test.hpp"
#include "support/counts.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

using namespace paddock::test;

namespace {

asio::awaitable<void> pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<int> answer() {
    co_await pause(1ms);
    co_return 42;
}

} // namespace

CO_TEST("a coroutine test runs on its own io_context") {
    CHECK(executor == io.get_executor());
    const auto here = co_await asio::this_coro::executor;
    CHECK(here == executor);
}

CO_TEST("a coroutine test that takes too long fails" * doctest::should_fail()) {
    test.time_limit(20ms);
    co_await pause(1h);
}

CO_TEST("a coroutine test that nothing can resume fails at once" * doctest::should_fail()) {
    co_await asio::async_initiate<decltype(asio::use_awaitable), void()>([](auto) {},
                                                                         asio::use_awaitable);
}

CO_TEST("an exception that escapes from a coroutine test fails it" * doctest::should_fail()) {
    co_await pause(1ms);
    throw std::runtime_error("escaped on purpose");
}

CO_TEST("a failed REQUIRE ends a coroutine test" * doctest::expected_failures(1)) {
    co_await pause(1ms);
    REQUIRE(false);
    CHECK(false);
}

CO_TEST("work that is left behind fails a coroutine test" * doctest::should_fail()) {
    asio::co_spawn(executor, pause(1h), asio::detached);
    co_return;
}

CO_TEST("a coroutine test may leave work behind if it says so") {
    test.allow_leftover_work();
    asio::co_spawn(executor, pause(1h), asio::detached);
    co_return;
}

CO_TEST("work that ends by itself soon is not left behind") {
    asio::co_spawn(executor, pause(20ms), asio::detached);
    co_return;
}

CO_TEST("subcases work in a coroutine test") {
    int entered = 0;
    SUBCASE("the first") { ++entered; }
    SUBCASE("the second") { ++entered; }
    co_await pause(1ms);
    CHECK(entered == 1);
}

CO_TEST("eventually waits until a condition holds") {
    bool ready = false;
    asio::steady_timer timer(executor, 10ms);
    timer.async_wait([&](auto) { ready = true; });
    co_await eventually([&] { return ready; });
    CHECK(ready);
}

CO_TEST("eventually accepts a condition that is a coroutine") {
    int calls = 0;
    co_await eventually([&]() -> asio::awaitable<bool> {
        co_await pause(1ms);
        co_return ++calls == 3;
    });
    CHECK(calls == 3);
}

CO_TEST("eventually fails when the condition does not come true" * doctest::should_fail()) {
    co_await eventually([] { return false; }, 10ms);
}

TEST_CASE("run_with_deadline returns the result of an awaitable") {
    asio::io_context io;
    CHECK(run_with_deadline(io, answer()) == 42);
    CHECK(run_with_deadline(io, answer()) == 42);
    run_with_deadline(io, pause(1ms));
}

TEST_CASE("run_with_deadline fails when the awaitable is late" * doctest::should_fail()) {
    asio::io_context io;
    run_with_deadline(io, pause(1h), 10ms);
}

TEST_CASE("a test that is torn down skips the rounds before the one in which that happens") {
    static std::vector<std::size_t> begun;
    static bool ended = false;
    const co_test_body body = [](co_context& test, asio::io_context&,
                                 asio::any_io_executor) -> asio::awaitable<void> {
        co_await pause(1ms);
        for (std::size_t i = 0; test.begin_round(i, 5); ++i) {
            begun.push_back(i);
            co_await pause(1ms);
            co_await pause(1ms);
        }
        ended = true;
    };
    const auto whole = co_run(body).to_end();
    CHECK(begun == std::vector<std::size_t>{0, 1, 2, 3, 4});
    CHECK(std::exchange(ended, false));
    std::vector<std::size_t> last;
    for (std::size_t step = 1; step < whole.steps; ++step) {
        begun.clear();
        co_run(body).up_to(step, whole);
        CHECK(begun.size() <= 1);
        last.insert(last.end(), begun.begin(), begun.end());
    }
    CHECK(std::is_sorted(last.begin(), last.end()));
    CHECK(std::set(last.begin(), last.end()).size() == 5);
    CHECK_FALSE(ended);
}

TEST_CASE("every combination is a round") {
    static std::set<std::pair<int, char>> seen;
    const co_test_body body = [](co_context& test, asio::io_context&,
                                 asio::any_io_executor) -> asio::awaitable<void> {
        for (const auto& round : test.each(std::array{1, 2, 3}, std::array{'a', 'b'})) {
            seen.insert({std::get<int>(round), std::get<char>(round)});
            co_await pause(1ms);
        }
    };
    const auto whole = co_run(body).to_end();
    CHECK(whole.rounds.size() == 6);
    CHECK(std::exchange(seen, {}).size() == 6);
    for (std::size_t step = 1; step < whole.steps; ++step) {
        const auto before = seen.size();
        co_run(body).up_to(step, whole);
        CHECK(seen.size() <= before + 1);
    }
    CHECK(seen.size() == 6);
}

TEST_CASE("a test is torn down after each step of its brief form") {
    static std::size_t many, runs, ends;
    many = runs = ends = 0;
    const co_test_body body = [](co_context& test, asio::io_context&,
                                 asio::any_io_executor) -> asio::awaitable<void> {
        ++runs;
        many = test.full_or_brief(1000, 3);
        for (std::size_t i = 0; i < many; ++i)
            co_await pause(1ms);
        ++ends;
    };
    const auto whole = co_run(body, co_run::form::brief).to_end();
    CHECK(many == 3);
    runs = ends = 0;
    tear_down(body, 24h);
    CHECK(many == 3);
    CHECK(ends == 1);
    CHECK(runs == whole.steps); // that is the last one
    runs = 0;
    tear_down(body, 0s);
    CHECK(runs == 2);
    static_cast<void>(co_run(body).to_end());
    CHECK(many == 1000);
}

TEST_CASE("the counts of the process follow its resources") {
    const auto fds = open_fds();
    const auto running = threads();
    {
        asio::io_context io;
        auto work = asio::make_work_guard(io);
        const asio::steady_timer timer(io); // makes the context open its own descriptors
        CHECK(open_fds() > fds);
        std::thread other([&] { io.run(); });
        CHECK(threads() > running); // a sanitizer may have started one as well
        work.reset();
        other.join();
    }
    CHECK(open_fds() == fds);

    const auto memory = rss_bytes();
    const auto used = thread_cpu_time();
    constexpr std::size_t size = 64U << 20;
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    REQUIRE(block != MAP_FAILED);
    CHECK(rss_bytes() > memory + size / 2);
    ::munmap(block, size);
    CHECK(thread_cpu_time() > used);
}
