#pragma once

#include "support/co_test.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/zk_server.hpp"

#include <paddock/client.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>

#include <deque>
#include <memory>
#include <string>

// Helpers for the tests of paddock::client.

namespace paddock::test {

using namespace asio::experimental::awaitable_operators;

/// As a token: the error code is part of the result, and nothing is thrown.
inline constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

/// Counts how often each of many calls completes, and keeps the outcomes.
class tally {
public:
    /// A completion handler for one call, whatever its signature.
    auto expect() {
        const auto one = std::make_shared<call>();
        calls_.push_back(one);
        return [one](error_code error, auto&&...) {
            ++one->times;
            one->error = error;
        };
    }

    std::size_t started() const { return calls_.size(); }
    std::size_t completions() const {
        std::size_t all = 0;
        for (const auto& one : calls_)
            all += one->times;
        return all;
    }
    /// Every call exactly once so far.
    bool all_once() const {
        for (const auto& one : calls_)
            if (one->times != 1) return false;
        return true;
    }
    error_code error(std::size_t n) const { return calls_.at(n)->error; }
    bool all_say(error_code expected) const {
        for (const auto& one : calls_)
            if (one->error != expected) return false;
        return true;
    }

private:
    struct call {
        std::size_t times = 0;
        error_code error;
    };
    std::deque<std::shared_ptr<call>> calls_;
};

/// Starts one of every kind of operation at `root` (no watches), each with a token of its own.
template <class MakeToken>
void start_every_operation(client& zk, const std::string& root, MakeToken token) {
    zk.create(root + "/created", "data", create_options(), token());
    zk.get(root, token());
    zk.exists(root, token());
    zk.children(root, token());
    zk.set(root, "data", any_version, token());
    zk.remove(root + "/nothing", any_version, token());
    zk.sync(root, token());
    zk.multi({op::check{root}}, token());
    zk.get_acl(root, token());
    zk.set_acl(root, open_acl(), any_version, token());
}

inline void start_every_operation(client& zk, const std::string& root, tally& all) {
    start_every_operation(zk, root, [&] { return all.expect(); });
}

/// Runs all handlers that are ready now.
inline asio::awaitable<void> let_others_run(int rounds = 20) {
    const auto executor = co_await asio::this_coro::executor;
    for (int i = 0; i < rounds; ++i)
        co_await asio::post(executor, asio::use_awaitable);
}

inline client_options with_timeout(std::chrono::milliseconds session_timeout) {
    client_options options;
    options.session_timeout = session_timeout;
    return options;
}

} // namespace paddock::test
