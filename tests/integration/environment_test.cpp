// The real environment: Asio's timers, reactor and resolver, and a wake-up from any thread.

#include "support/asio_environment.hpp"
#include "support/counts.hpp"
#include "support/pump_harness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;

namespace {

struct real_world {
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io->get_executor())));

    template <class Predicate>
    bool until(Predicate predicate) {
        return run_until(*io, predicate);
    }
};

/// Two ends of one connection.
struct socket_pair {
    socket_pair() {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    }
    ~socket_pair() {
        for (const int end : ends)
            if (end >= 0) ::close(end);
    }
    descriptor near() const { return {ends[0], 1}; }
    void close_near() { ::close(std::exchange(ends[0], -1)); }
    void write() { REQUIRE(::write(ends[1], "x", 1) == 1); }

    std::array<int, 2> ends{-1, -1};
};

} // namespace

TEST_CASE("the clock goes on while the machine sleeps, and agrees with itself") {
    real_world w;
    std::timespec raw{};
    ::clock_gettime(CLOCK_BOOTTIME, &raw);
    const auto now = w.env->now();
    CHECK(now.time_since_epoch() >= std::chrono::seconds(raw.tv_sec));
    CHECK(now.time_since_epoch() < std::chrono::seconds(raw.tv_sec + 2));
    CHECK(boot_clock::now() >= now);
    CHECK(w.env->random() != w.env->random());
}

TEST_CASE_FIXTURE(real_world, "a timer fires once, when it is due, and never from within arm") {
    auto timer = env->make_timer();
    int fired = 0;
    auto at = env->now() + 30ms;
    timer->arm(at, [&] {
        ++fired;
        CHECK(env->now() >= at);
    });
    CHECK(until([&] { return fired == 1; }));
    SUBCASE("a time that has passed already") {
        at = env->now() - 1h;
        timer->arm(at, [&] { ++fired; });
        CHECK(fired == 1);
        CHECK(until([&] { return fired == 2; }));
    }
    SUBCASE("a later time replaces the earlier one") {
        timer->arm(env->now() + 20ms, [&] { fired += 100; });
        at = env->now() + 60ms;
        timer->arm(at, [&] {
            ++fired;
            CHECK(env->now() >= at);
        });
        CHECK(until([&] { return fired == 2; }));
    }
    SUBCASE("an earlier time replaces the later one") {
        timer->arm(env->now() + 1h, [&] { fired += 100; });
        timer->arm(env->now() + 10ms, [&] { ++fired; });
        CHECK(until([&] { return fired == 2; }));
    }
    SUBCASE("a time that no clock reaches") {
        timer->arm(boot_clock::time_point::max(), [&] { fired += 100; });
        timer->arm(env->now() + 10ms, [&] { ++fired; });
        CHECK(until([&] { return fired == 2; }));
    }
    run_for(*io, 50ms);
    CHECK(fired < 3);
}

TEST_CASE_FIXTURE(real_world,
                  "a timer that was cancelled or destroyed neither fires nor keeps the loop") {
    auto cancelled = env->make_timer();
    auto destroyed = env->make_timer();
    auto ready = env->make_timer();
    cancelled->arm(env->now() + 10s, [] { FAIL_CHECK("cancelled"); });
    destroyed->arm(env->now() + 10s, [] { FAIL_CHECK("destroyed"); });
    ready->arm(env->now(), [] { FAIL_CHECK("cancelled when it was due"); });
    std::this_thread::sleep_for(2ms);
    cancelled->cancel();
    ready->cancel();
    destroyed.reset();
    const auto begin = env->now();
    io->restart();
    io->run();
    CHECK(env->now() - begin < scaled(1s));
}

TEST_CASE_FIXTURE(real_world, "a timer may arm and destroy itself while it fires") {
    auto timer = env->make_timer();
    int fired = 0;
    std::function<void()> again = [&] {
        if (++fired == 3)
            timer.reset();
        else
            timer->arm(env->now() + 1ms, [&] { again(); });
    };
    timer->arm(env->now(), [&] { again(); });
    CHECK(until([&] { return !timer; }));
    CHECK(fired == 3);
}

TEST_CASE_FIXTURE(real_world, "a readiness object may outlive its descriptor") {
    env->make_timer(); // the reactor's own descriptors exist now
    socket_pair pair;
    const auto fds = open_fds();
    auto ready = env->make_readiness(pair.near());
    CHECK(open_fds() == fds + 1);
    int readable = 0;
    int writable = 0;
    ready->wait_writable([&] { ++writable; });
    ready->wait_readable([&] { ++readable; });
    CHECK(writable == 0);
    CHECK(until([&] { return writable == 1; }));
    CHECK(readable == 0);
    pair.close_near(); // as the C client does it
    pair.write();
    CHECK(until([&] { return readable == 1; }));
    // Not consumed: it is ready again.
    ready->wait_readable([&] { ++readable; });
    CHECK(until([&] { return readable == 2; }));
    ready.reset();
    CHECK(open_fds() == fds - 1);
}

TEST_CASE_FIXTURE(real_world, "readiness to write does not complete a wait for readiness to read") {
    socket_pair pair;
    auto ready = env->make_readiness(pair.near());
    const auto fds = open_fds();
    int readable = 0, writable = 0;
    ready->wait_writable([&] { ++writable; });
    CHECK(until([&] { return writable == 1; }));
    CHECK(open_fds() == fds);
    ready->wait_readable([&] { ++readable; });
    io->restart();
    CHECK(io->poll() == 0);
    ready->wait_writable([&] { ++writable; });
    CHECK(until([&] { return writable == 2; }));
    pair.write();
    CHECK(until([&] { return readable == 1; }));
}

TEST_CASE_FIXTURE(real_world, "a wait for readiness to write works without free descriptors") {
    socket_pair pair;
    auto ready = env->make_readiness(pair.near());
    int writable = 0;
    const auto wait = [&] { ready->wait_writable([&] { ++writable; }); };
    wait(); // a sanitizer needs descriptors to look at it for the first time
    CHECK(until([&] { return writable == 1; }));
    ::rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const ::rlimit none{3, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    wait();
    CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(until([&] { return writable == 2; }));
}

TEST_CASE_FIXTURE(real_world, "a destroyed readiness calls no handler, not even one that was due") {
    socket_pair pair;
    auto ready = env->make_readiness(pair.near());
    ready->wait_readable([&] { CHECK(ready); });
    pair.write();
    io->poll_one(); // it is in the queue now, or has run
    ready.reset();
    run_for(*io, 20ms);
    auto inside = env->make_readiness(pair.near());
    bool called = false;
    inside->wait_readable([&] {
        inside.reset();
        called = true;
    });
    CHECK(until([&] { return called; }));
}

TEST_CASE_FIXTURE(real_world, "a descriptor that cannot be duplicated is an exception") {
    env->make_timer();
    const auto fds = open_fds();
    CHECK_THROWS_AS(env->make_readiness({-1, 1}), boost::system::system_error);
    CHECK_THROWS_AS(env->make_readiness({12345, 1}), boost::system::system_error);
    CHECK(open_fds() == fds);
}

TEST_CASE_FIXTURE(real_world, "posted tasks run later, in order, and not after the end") {
    std::string order;
    env->post([&] { order += 'a'; });
    env->post([&] { order += 'b'; });
    CHECK(order.empty());
    CHECK(until([&] { return order == "ab"; }));
    env->post([] { FAIL_CHECK("ran"); });
    env.reset();
    run_for(*io, 20ms);
}

TEST_CASE_FIXTURE(real_world,
                  "post_behind runs a task behind the tasks that wait by then, and no others") {
    std::string order;
    env->post([&] {
        order += 'a';
        env->post([&] { order += 'd'; });
        env->post_behind([&] {
            order += 'c';
            env->post_behind([&] { order += 'e'; }); // not without end
        });
    });
    env->post([&] { order += 'b'; });
    env->post_behind([&] { order += 'B'; });
    CHECK(order.empty());
    CHECK(until([&] { return order.size() == 6; }));
    CHECK(order == "abBcde");
    env->post([&] {
        env->post_behind([] { FAIL_CHECK("ran"); });
        env.reset();
    });
    CHECK(until([&] { return !env; }));
    run_for(*io, 20ms);
}

TEST_CASE_FIXTURE(real_world, "a task that throws does not stop the tasks behind it") {
    std::string order;
    env->post([&] {
        env->post_behind([&] { order += 'c'; });
        throw std::runtime_error("task");
    });
    env->post([&] { order += 'b'; });
    CHECK_THROWS_WITH(io->run_one(), "task");
    CHECK(until([&] { return order.size() == 2; }));
}

TEST_CASE_FIXTURE(real_world, "no notification of any thread is lost") {
    std::atomic<int> given{0};
    int taken = 0;
    int woken = 0;
    auto wakeup = env->make_wakeup([&] {
        ++woken;
        taken += given.exchange(0);
    });
    constexpr int each = 20'000;
    const auto notify = [&] {
        for (int i = 0; i < each; ++i) {
            ++given;
            wakeup->notify();
            if (i % 64 == 0) std::this_thread::yield();
        }
    };
    std::thread one(notify);
    std::thread two(notify);
    CHECK(until([&] { return taken == 2 * each; }));
    one.join();
    two.join();
    CHECK(woken >= 1);
    CHECK(woken <= 2 * each);
    // The last notifications may follow the wake-up that took everything.
    run_for(*io, 20ms);
    const int before = woken;
    run_for(*io, 20ms);
    CHECK(woken == before);
}

TEST_CASE_FIXTURE(real_world, "in a forked child a notification locks and calls nothing") {
    int woken = 0;
    const auto wakeup = env->make_wakeup([&] { ++woken; });
    io->notify_fork(asio::execution_context::fork_prepare);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        io->notify_fork(asio::execution_context::fork_child);
        wakeup->notify();
        io->poll();
        ::_exit(woken);
    }
    io->notify_fork(asio::execution_context::fork_parent);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    wakeup->notify();
    CHECK(until([&] { return woken == 1; }));
}

TEST_CASE_FIXTURE(real_world, "a wake-up that was stopped or destroyed lets the loop end") {
    auto stopped = env->make_wakeup([] { FAIL_CHECK("stopped"); });
    auto destroyed = env->make_wakeup([] { FAIL_CHECK("destroyed"); });
    stopped->notify();
    destroyed->notify();
    stopped->stop();
    destroyed.reset();
    stopped->notify();
    io->restart();
    io->run();
    std::unique_ptr<wakeup> itself;
    bool woken = false;
    itself = env->make_wakeup([&] {
        itself.reset();
        woken = true;
    });
    itself->notify();
    CHECK(until([&] { return woken; }));
}

TEST_CASE_FIXTURE(real_world, "names are resolved, and those that do not exist are errors") {
    std::vector<std::string> found;
    boost::system::error_code error;
    int answers = 0;
    env->resolve("localhost", [&](const auto& e, const auto& addresses) {
        ++answers;
        error = e;
        found = addresses;
    });
    CHECK(answers == 0);
    CHECK(until([&] { return answers == 1; }));
    CHECK_FALSE(error);
    CHECK(std::find(found.begin(), found.end(), "127.0.0.1") != found.end());
    CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    env->resolve("no-such-host.invalid", [&](const auto& e, const auto& addresses) {
        ++answers;
        error = e;
        found = addresses;
    });
    CHECK(run_until(
        *io, [&] { return answers == 2; }, 30s));
    CHECK(error);
    CHECK(found.empty());
    env->resolve("localhost", [](const auto&, const auto&) { FAIL_CHECK("after the end"); });
    env.reset();
    run_for(*io, 20ms);
}
