#pragma once

#include "co_test.hpp"
#include "foreigner.hpp"
#include "proxy.hpp"
#include "zk_server.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

// Helpers for the tests of the locks: operations under way that can be inspected, and the nodes of
// a queue.

namespace paddock::test {

/// An operation under way, and its outcome. `cancel` may be called at any time.
template <class... Result>
struct pending {
    int times = 0; ///< that it has completed
    error_code error;
    std::tuple<Result...> result;
    std::function<void()> then; ///< called when it completes
    asio::cancellation_signal stop;
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point ended{};

    bool done() const { return times > 0; }
    void cancel(asio::cancellation_type how = asio::cancellation_type::total) { stop.emit(how); }
};
template <class... Result>
using under_way = std::shared_ptr<pending<Result...>>;

/// Starts an operation: `operate(token)`.
template <class... Result, class Operate>
under_way<Result...> start(Operate operate, std::function<void()> then = {}) {
    const auto p = std::make_shared<pending<Result...>>();
    p->then = std::move(then);
    operate(asio::bind_cancellation_slot(p->stop.slot(), [p](error_code error, Result... result) {
        ++p->times;
        p->ended = std::chrono::steady_clock::now();
        p->error = error;
        p->result = std::tuple<Result...>(std::move(result)...);
        if (p->then) p->then();
    }));
    return p;
}

using lock_call = under_way<guard>;

inline guard& held(const lock_call& a) { return std::get<guard>(a->result); }

inline lock_call ask(mutex& m, std::function<void()> then = {}) {
    return start<guard>([&](auto token) { m.lock(std::move(token)); }, std::move(then));
}
inline lock_call ask_now(mutex& m) {
    return start<guard>([&](auto token) { m.try_lock(std::move(token)); });
}
inline lock_call ask_for(mutex& m, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { m.try_lock_for(limit, std::move(token)); });
}
inline under_way<> give_back(guard& g) {
    return start([&](auto token) { g.unlock(std::move(token)); });
}
/// The wait for the end of a hold; its error is the reason, unless it was cancelled.
template <class Guard>
under_way<> follow_end(const Guard& g) {
    const auto p = std::make_shared<pending<>>();
    g.lost(asio::bind_cancellation_slot(p->stop.slot(), [p](error_code error, error_code reason) {
        ++p->times;
        CHECK(error.failed() != reason.failed());
        p->error = error ? error : reason;
    }));
    return p;
}
inline under_way<> end_of(guard& g) { return follow_end(g); }

/// Waits until all of them have completed.
template <class... Result>
asio::awaitable<void> finished(std::vector<under_way<Result...>> all) {
    co_await eventually([&] {
        return std::all_of(all.begin(), all.end(), [](const auto& p) { return p->done(); });
    });
}
template <class... Result>
asio::awaitable<void> finished(under_way<Result...> one) {
    co_await eventually([&] { return one->done(); });
}
/// Waits until the call is granted the lock.
inline asio::awaitable<void> granted(lock_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK(held(a).valid());
}

/// Releases the granted lock.
inline asio::awaitable<void> unlocked(lock_call a) {
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK_MESSAGE(!end->error, end->error.message());
}
/// Waits until one of them, and no second one, is granted the lock, and takes it out.
inline asio::awaitable<lock_call> next_granted(std::vector<lock_call>& waiting) {
    const auto done = [](const lock_call& a) { return a->done(); };
    co_await eventually([&] { return std::any_of(waiting.begin(), waiting.end(), done); });
    REQUIRE(std::count_if(waiting.begin(), waiting.end(), done) == 1);
    const auto next = std::find_if(waiting.begin(), waiting.end(), done);
    const auto a = *next;
    waiting.erase(next);
    co_await granted(a);
    co_return a;
}

inline int sequence_of(std::string_view path) {
    return path.size() < 10 ? -1 : std::stoi(std::string(path.substr(path.size() - 10)));
}

/// The names in a lock's directory, in the order of their sequence numbers.
inline std::vector<std::string> queue_at(foreigner& by, const std::string& directory) {
    std::vector<std::string> names;
    if (code_of([&] { names = by.children(directory); }) != zk_code::ok) return {};
    std::sort(names.begin(), names.end(),
              [](const auto& a, const auto& b) { return sequence_of(a) < sequence_of(b); });
    return names;
}

/// A foreigner queues as Curator does. Returns the path of its node.
inline std::string queue_up(foreigner& by, const std::string& directory,
                            const std::string& marker = "lock-") {
    static int count = 0;
    char name[64];
    std::snprintf(name, sizeof name, "/_c_deadbeef-0000-4000-8000-%012d-", ++count);
    return by.create(directory + name + marker, "", node_mode::ephemeral_sequential);
}

/// One client behind a proxy, with one lock in an empty directory.
struct scene {
    explicit scene(asio::any_io_executor executor, client_options options = {},
                   mutex_options terms = {}, const std::string& tail = "/lock")
        : path(fresh_root() + tail)
        , zk(executor, proxy.address(), std::move(options))
        , lock(zk, path, std::move(terms)) {
        direct.make_path(path);
    }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path;
    client zk;
    mutex lock;

    std::vector<std::string> queue() { return queue_at(direct, path); }
    std::size_t sent(std::int32_t operation) const { return proxy.count(direction::up, operation); }
    /// What the client has sent, in order.
    std::vector<std::int32_t> requests() const {
        std::vector<std::int32_t> all;
        for (const auto& f : proxy.snapshot().frames)
            if (f.way == direction::up && f.counts()) all.push_back(f.opcode);
        return all;
    }
    /// Waits until the directory has so many nodes.
    asio::awaitable<void> until_queue(std::size_t nodes) {
        co_await eventually([&] { return queue().size() == nodes; });
    }
    /// Waits until the client has reconnected.
    asio::awaitable<void> until_connected() {
        co_await eventually([&] { return zk.state() == client_state::connected; });
    }
};

/// The server ends the session of the scene's client.
inline void expire(scene& s) {
    kill_session(shared_server().address(), s.proxy.last_credentials());
}

inline client_options short_session(std::chrono::milliseconds timeout = std::chrono::seconds(2)) {
    client_options options;
    options.session_timeout = timeout;
    return options;
}

} // namespace paddock::test
