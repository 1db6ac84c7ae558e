#pragma once

#include "co_test.hpp"
#include "foreigner.hpp"
#include "proxy.hpp"
#include "tls_front.hpp"
#include "zk_server.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <chrono>
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

/// Writes the outcome down. One type for all operations: the compiler has less to do.
template <class... Result>
struct recorder {
    std::shared_ptr<pending<Result...>> into;

    void operator()(error_code error, Result... result) const {
        ++into->times;
        into->ended = std::chrono::steady_clock::now();
        into->error = error;
        into->result = std::tuple<Result...>(std::move(result)...);
        if (into->then) into->then();
    }
};

/// Starts an operation: `operate(token)`.
template <class... Result, class Operate>
under_way<Result...> start(Operate operate, std::function<void()> then = {}) {
    const auto p = std::make_shared<pending<Result...>>();
    p->then = std::move(then);
    operate(asio::bind_cancellation_slot(p->stop.slot(), recorder<Result...>{p}));
    return p;
}

using lock_call = under_way<guard>;

inline guard& held(const lock_call& a) { return std::get<guard>(a->result); }

lock_call ask(mutex& m, std::function<void()> then = {});
lock_call ask_now(mutex& m);
lock_call ask_for(mutex& m, std::chrono::nanoseconds limit);
under_way<> give_back(guard& g);
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
under_way<> end_of(guard& g);

/// Waits until all of them have completed.
template <class... Result>
asio::awaitable<void> finished(std::vector<under_way<Result...>> all) {
    return eventually([all = std::move(all)] {
        return std::all_of(all.begin(), all.end(), [](const auto& p) { return p->done(); });
    });
}
template <class... Result>
asio::awaitable<void> finished(under_way<Result...> one) {
    return eventually([one = std::move(one)] { return one->done(); });
}
/// Waits until the call is granted the lock.
asio::awaitable<void> granted(lock_call a);

/// Releases the granted lock.
asio::awaitable<void> unlocked(lock_call a);
/// Waits until one of them, and no second one, is granted the lock, and takes it out.
asio::awaitable<lock_call> next_granted(std::vector<lock_call>& waiting);

int sequence_of(std::string_view path);

/// The names in a lock's directory, in the order of their sequence numbers.
std::vector<std::string> queue_at(foreigner& by, const std::string& directory);

/// A foreigner queues as Curator does. Returns the path of its node.
std::string queue_up(foreigner& by, const std::string& directory,
                     const std::string& marker = "lock-");

/// For a client of the front, if there is one.
client_options over_front(const std::unique_ptr<tls_front>& front, client_options options);

/// One client behind a proxy, also over TLS, with one lock in an empty directory.
struct scene {
    explicit scene(asio::any_io_executor executor, client_options options = {},
                   mutex_options terms = {}, const std::string& tail = "/lock");

    fault_proxy proxy{shared_server().port()};
    std::unique_ptr<tls_front> front = front_of(proxy.port());
    foreigner direct{shared_server().address()};
    std::string path;
    client zk;
    mutex lock;

    /// Where the client is connected.
    std::string address() const { return front ? front->address() : proxy.address(); }
    std::vector<std::string> queue() { return queue_at(direct, path); }
    std::size_t sent(std::int32_t operation) const { return proxy.count(direction::up, operation); }
    /// What the client has sent, in order.
    std::vector<std::int32_t> requests() const;
    /// Waits until the directory has so many nodes.
    asio::awaitable<void> until_queue(std::size_t nodes);
    /// Waits until the client has reconnected.
    asio::awaitable<void> until_connected();
};

/// The server ends the session of the scene's client.
void expire(scene& s);

client_options short_session(std::chrono::milliseconds timeout = std::chrono::seconds(2));

} // namespace paddock::test
