// The measurements of paddock for compare.py.
//     bench_paddock HOST:PORT cycles LOCKS CYCLES     uncontended locks, each by a coroutine
//     bench_paddock HOST:PORT waiters N               N waiters on one mutex: memory, lateness
//     bench_paddock HOST:PORT valid CALLS             time of guard::valid(), and of the clock
#include "figures.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

namespace {

void rethrow(std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
}

asio::awaitable<void> cycle(paddock::mutex mutex, long count) {
    for (long i = 0; i < count; ++i) {
        paddock::guard hold = co_await mutex.lock();
        co_await hold.unlock();
    }
}

asio::awaitable<void> cycles(asio::io_context& io, std::string servers, int locks, long count) {
    paddock::client zk(io.get_executor(), servers);
    std::vector<paddock::mutex> mutexes;
    for (int i = 0; i < locks; ++i) {
        const auto path = "/bench_paddock_" + std::to_string(i);
        paddock::mutex_options options;
        options.persistent_parents = true;
        mutexes.emplace_back(zk, path, options);
        co_await cycle(mutexes.back(), 1); // makes the directory
    }
    const paddock::bench::stopwatch watch;
    int open = locks;
    asio::steady_timer done(io, steady::time_point::max());
    for (auto& mutex : mutexes)
        asio::co_spawn(io, cycle(mutex, count), [&](std::exception_ptr failed) {
            rethrow(failed);
            if (--open == 0) done.cancel();
        });
    paddock::error_code ignored;
    co_await done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    watch.tell(count * locks);
    co_await zk.close();
}

milliseconds thread_cpu() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

double resident_kib() {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1024.0;
}

/// How late a timer on the loop comes.
asio::awaitable<void> measure_lateness(bool& stop, milliseconds& worst) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!stop) {
        timer.expires_after(1ms);
        const auto due = timer.expiry();
        co_await timer.async_wait(asio::use_awaitable);
        worst = std::max<milliseconds>(worst, steady::now() - due);
    }
}

asio::awaitable<void> wait_once(paddock::mutex& mutex, int& served) {
    paddock::guard hold = co_await mutex.lock();
    ++served;
}

asio::awaitable<void> waiters(asio::io_context& io, std::string servers, int count) {
    paddock::client zk(io.get_executor(), servers);
    paddock::mutex mutex(zk, "/bench_waiters");
    auto first = std::make_optional(co_await mutex.lock());
    bool stop = false;
    milliseconds worst{};
    asio::co_spawn(io, measure_lateness(stop, worst), rethrow);
    const double before = resident_kib();
    int served = 0;
    const auto start = steady::now();
    for (int i = 0; i < count; ++i)
        asio::co_spawn(io, wait_once(mutex, served), rethrow);
    asio::steady_timer pause(io);
    for (std::size_t in_queue = 0; in_queue < static_cast<std::size_t>(count) + 1;) {
        pause.expires_after(20ms);
        co_await pause.async_wait(asio::use_awaitable);
        const auto listed = co_await zk.children("/bench_waiters");
        in_queue = listed.names.size();
    }
    const auto joined = steady::now();
    const double after = resident_kib();
    first.reset();
    while (served < count) {
        pause.expires_after(1ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
    const auto drained = steady::now();
    stop = true;
    std::printf("waiters %d kib_per_waiter %.2f join_ms %.0f drain_ms %.0f timer_late_ms %.1f\n",
                count, (after - before) / count, milliseconds(joined - start).count(),
                milliseconds(drained - joined).count(), worst.count());
    co_await zk.close();
}

/// The nanoseconds of one call that returns true.
template <typename Call>
double time_of(long calls, Call call) {
    const auto start = steady::now();
    long sum = 0;
    for (long i = 0; i < calls; ++i) {
        sum += call() ? 1 : 0;
        asm volatile("" : "+r"(sum)); // keeps the loop
    }
    const std::chrono::duration<double, std::nano> took = steady::now() - start;
    return took.count() / static_cast<double>(sum);
}

asio::awaitable<void> valid(asio::io_context& io, std::string servers, long calls) {
    paddock::client zk(io.get_executor(), servers);
    paddock::mutex mutex(zk, "/bench_valid");
    paddock::guard hold = co_await mutex.lock();
    const auto valid_ns = time_of(calls, [&] { return hold.valid(); });
    const auto clock_ns = time_of(calls, [] {
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        return now.tv_sec > 0;
    });
    std::printf("valid_ns %.2f clock_ns %.2f\n", valid_ns, clock_ns);
    co_await hold.unlock();
    co_await zk.close();
}

/// The CPU time of the longest handler.
milliseconds run_and_time_handlers(asio::io_context& io) {
    milliseconds longest{};
    while (true) {
        const auto before = thread_cpu();
        if (io.run_one() == 0) return longest;
        longest = std::max(longest, thread_cpu() - before);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const std::string servers = argv[1], what = argv[2];
    asio::io_context io(1);
    if (what == "cycles" && argc == 5)
        asio::co_spawn(io, cycles(io, servers, std::atoi(argv[3]), std::atol(argv[4])), rethrow);
    else if (what == "waiters")
        asio::co_spawn(io, waiters(io, servers, std::atoi(argv[3])), rethrow);
    else if (what == "valid")
        asio::co_spawn(io, valid(io, servers, std::atol(argv[3])), rethrow);
    else
        return 2;
    if (what == "waiters")
        std::printf("longest_handler_cpu_ms %.2f\n", run_and_time_handlers(io).count());
    else
        io.run();
}
