// Many threads: one io_context that four of them run, and callers on other threads. Several
// io_contexts.

#include "client_support.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

using namespace paddock;
using namespace paddock::test;

namespace {

/// An io_context that some threads run.
class busy_context {
public:
    explicit busy_context(int threads) {
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([this] { io.run(); });
    }
    ~busy_context() {
        work_.reset();
        for (auto& thread : threads_)
            thread.join();
    }

    asio::io_context io;

private:
    asio::executor_work_guard<asio::io_context::executor_type> work_{io.get_executor()};
    std::vector<std::thread> threads_;
};

template <class T>
T in_time(std::future<T> result) {
    REQUIRE(result.wait_for(scaled(30s)) == std::future_status::ready);
    return result.get();
}

/// Increments the number in a node, this many times, against other clients that do the same.
asio::awaitable<void> count_up(client& zk, std::string path, int times, std::atomic<int>& added) {
    while (times > 0) {
        const auto read = co_await zk.get(path);
        const auto next = std::to_string(std::stoi(read.data) + 1);
        const auto [error, stat] = co_await zk.set(path, next, read.stat.version, no_throw);
        if (error == zk_errc::bad_version) continue;
        if (error) throw system_error(error);
        --times;
        ++added;
    }
}

/// Waits for a node's number to reach a goal, by watches only.
asio::awaitable<int> wait_for_number(client& zk, std::string path, int goal) {
    for (;;) {
        paddock::watch changed(zk);
        const auto read = co_await zk.get(path, changed);
        const auto now = std::stoi(read.data);
        if (now >= goal) co_return now;
        co_await changed.event();
    }
}

std::string counter() {
    const auto path = fresh_root();
    foreigner(shared_server().address()).create(path, "0");
    return path;
}

} // namespace

TEST_CASE("clients on several threads increment one counter, and watches report it") {
    const auto path = counter();
    busy_context busy(4);
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(
            std::make_unique<client>(busy.io.get_executor(), shared_server().address()));
    std::atomic<int> added = 0;
    std::vector<std::future<void>> counting;
    std::vector<std::future<int>> waiting;
    for (auto& zk : clients) {
        waiting.push_back(asio::co_spawn(asio::make_strand(busy.io), wait_for_number(*zk, path, 80),
                                         asio::use_future));
        for (int i = 0; i < 4; ++i)
            counting.push_back(asio::co_spawn(asio::make_strand(busy.io),
                                              count_up(*zk, path, 5, added), asio::use_future));
    }
    for (auto& each : counting)
        in_time(std::move(each));
    for (auto& each : waiting)
        CHECK(in_time(std::move(each)) == 80);
    CHECK(added == 80);
    CHECK(foreigner(shared_server().address()).get(path).data == "80");
}

TEST_CASE("one client may be used by many threads at once") {
    const auto path = counter();
    busy_context busy(2);
    client zk(busy.io.get_executor(), shared_server().address());
    std::atomic<int> answered = 0;
    std::vector<std::thread> users;
    for (int n = 0; n < 4; ++n) {
        users.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                zk.exists(path, [&](error_code error, const paddock::node_stat&) {
                    if (!error) ++answered;
                });
                zk.next_state(client_state::connecting, [](error_code, client_state) {});
                if (zk.state() == client_state::connected && zk.epoch() != 1) answered = -10'000;
                static_cast<void>(zk.session_id());
                static_cast<void>(zk.session_timeout());
                auto read = zk.get(path, asio::use_future).get();
                if (read.data == "0") ++answered;
            }
        });
    }
    for (auto& user : users)
        user.join();
    in_time(zk.sync(path, asio::use_future));
    const auto end = std::chrono::steady_clock::now() + scaled(10s);
    while (answered != 800 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    CHECK(answered == 800);
}

TEST_CASE("every call completes once while other threads close and destroy clients") {
    const auto path = counter();
    std::atomic<int> started = 0;
    std::atomic<int> completed = 0;
    const auto token = [&] {
        ++started;
        return [&](error_code, auto&&...) { ++completed; };
    };
    {
        busy_context busy(3);
        for (int round = 0; round < 10; ++round) {
            std::optional<client> zk(std::in_place, busy.io.get_executor(),
                                     shared_server().address());
            std::vector<std::thread> users;
            for (int n = 0; n < 3; ++n) {
                users.emplace_back([&, n] {
                    for (int i = 0; i < 10; ++i) {
                        start_every_operation(*zk, path, token);
                        paddock::watch changed(*zk);
                        zk->get(path, changed, token());
                        changed.event(token());
                        if (n == 1 && i == 5) zk->close(token());
                    }
                });
            }
            if (round % 2 == 0) in_time(zk->close(asio::use_future));
            for (auto& user : users)
                user.join();
            zk.reset();
        }
    }
    CHECK(started == completed);
    CHECK(started > 3000);
}

TEST_CASE("no completion is lost to cancellations from other threads or broken connections") {
    const auto path = counter();
    fault_proxy proxy(shared_server().port());
    std::atomic<int> started = 0;
    std::atomic<int> completed = 0;
    std::atomic<int> answered = 0;
    {
        busy_context busy(3);
        client zk(busy.io.get_executor(), proxy.address());
        // A signal and its slot are for one thread at a time: hence a strand for each call.
        const auto call_and_cancel = [&](int n) -> asio::awaitable<void> {
            const auto here = co_await asio::this_coro::executor;
            for (int i = 0; i < 30; ++i) {
                asio::steady_timer timer(here, std::chrono::microseconds(100 * ((i + n) % 20)));
                ++started;
                const auto first =
                    co_await (zk.get(path, no_throw) || timer.async_wait(asio::use_awaitable));
                ++completed;
                if (first.index() == 0) ++answered;
            }
        };
        std::vector<std::future<void>> all;
        for (int n = 0; n < 10; ++n)
            all.push_back(
                asio::co_spawn(asio::make_strand(busy.io), call_and_cancel(n), asio::use_future));
        for (int i = 0; i < 10; ++i) {
            proxy.cut_all(i % 2 == 0 ? cut::fin : cut::rst);
            in_time(zk.sync(path, asio::use_future));
        }
        for (auto& each : all)
            in_time(std::move(each));
        in_time(zk.close(asio::use_future));
    }
    CHECK(completed == 300);
    CHECK(started == completed);
}

TEST_CASE("a handler on its way to another io_context outlives the client's") {
    asio::io_context other;
    bool called = false;
    {
        asio::io_context io;
        client zk(io, shared_server().address());
        zk.exists("/", asio::bind_executor(other,
                                           [&](error_code, paddock::node_stat) { called = true; }));
        bool answered = false;
        zk.exists("/", [&](error_code, paddock::node_stat) { answered = true; });
        while (!answered)
            io.run_one();
    }
    CHECK_FALSE(called);
    other.run();
    CHECK(called);
}
