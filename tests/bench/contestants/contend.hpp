#pragma once

#include "contestant.hpp"

#include <paddock/guard.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <exception>
#include <optional>

/// The workload of all lock services: `contend contenders=N locks=L clients=C`, in which contender
/// i takes and releases lock i % L by client i % C, again and again, or `once=1`.
namespace paddock::bench {

namespace asio = boost::asio;

inline void rethrow(std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
}

/// Coroutines that one waits for.
class crew {
public:
    explicit crew(asio::io_context& io) : io_(io), done_(io, steady::time_point::max()) {}

    void start(asio::awaitable<void> work) {
        ++open_;
        asio::co_spawn(io_, std::move(work), [this](std::exception_ptr failed) {
            rethrow(failed);
            if (--open_ == 0) done_.cancel();
        });
    }

    asio::awaitable<void> wait() {
        boost::system::error_code ignored;
        while (open_ > 0)
            co_await done_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }

private:
    asio::io_context& io_;
    asio::steady_timer done_;
    std::size_t open_ = 0;
};

inline asio::awaitable<void> pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Processes that begin at a time: so many milliseconds after 1970.
inline asio::awaitable<void> pause_until(std::size_t time) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return pause(
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::milliseconds(time) - now));
}

template <typename Mutex>
asio::awaitable<void> contender(Mutex mutex, std::size_t number, const job& wanted,
                                measurement& figures) {
    const bool awaited = wanted.number("drop", 0) == 0, once = wanted.number("once", 0) == 1;
    do {
        const auto asked = steady::now();
        paddock::guard hold = co_await mutex.lock();
        figures.count(asked, number);
        if (awaited) co_await hold.unlock();
    } while (!once && !figures.over());
}

/// Where there are more contenders than locks, all of them wait behind a holder before it begins.
template <typename System>
asio::awaitable<void> contend(asio::io_context& io, const System& system, const job& wanted,
                              measurement& figures) {
    const auto contenders = wanted.number("contenders"), locks = wanted.number("locks");
    const auto path = wanted.text("path");
    std::deque<typename System::client> clients;
    for (std::size_t i = 0; i < wanted.number("clients", 1); ++i) {
        clients.push_back(system.connect(io));
        co_await clients.back().connect();
    }
    std::vector<typename System::mutex> mutexes;
    mutexes.reserve(contenders);
    for (std::size_t i = 0; i < contenders; ++i)
        mutexes.push_back(
            system.make(clients[i % clients.size()], path + '-' + std::to_string(i % locks)));
    std::optional<paddock::guard> holder;
    for (std::size_t i = 0; i < locks; ++i) // the first one makes the lock's directory
        holder = co_await mutexes[i].lock();
    const bool queued = contenders > locks;
    if (!queued) co_await holder->unlock();

    crew all(io);
    const double before = resident_kib();
    if (wanted.has("at")) co_await pause_until(wanted.number("at"));
    if (!queued) figures.begin();
    for (std::size_t i = 0; i < contenders; ++i)
        all.start(contender(mutexes[i], i, wanted, figures));
    if (queued) {
        co_await system.until_queued(clients.front(), path + "-0", contenders);
        figures.add("kib_per_waiter", (resident_kib() - before) / static_cast<double>(contenders));
        figures.begin();
        co_await holder->unlock();
    }
    co_await all.wait();
    figures.end();
    if (queued) figures.add_handoffs();
    for (auto& each : clients)
        co_await each.close();
}

} // namespace paddock::bench
