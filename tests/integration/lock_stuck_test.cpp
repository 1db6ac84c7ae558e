// The log of waiters behind a hold of their own client.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using lines = std::shared_ptr<std::vector<std::string>>;

client_options logging(lines to, std::chrono::milliseconds timeout) {
    auto options = short_session(timeout);
    options.log = [to](std::string_view line) { to->emplace_back(line); };
    return options;
}

/// How many messages are about waiting at this path.
std::size_t about(const lines& all, const std::string& path) {
    return static_cast<std::size_t>(
        std::count_if(all->begin(), all->end(), [&](const std::string& line) {
            return line.find("1 caller has waited for the lock ") == 0 &&
                   line.find(path + ' ') != std::string::npos &&
                   line.find("behind a hold of this same client") != std::string::npos;
        }));
}

} // namespace

CO_TEST("a waiter behind a hold of its own client is logged once, with the path") {
    const auto log = std::make_shared<std::vector<std::string>>();
    scene s(executor, logging(log, test.full_or_brief(2s, 1s)));
    s.direct.make_path(s.path + "-foreign");
    const auto foreign = queue_up(s.direct, s.path + "-foreign");
    mutex others(s.zk, s.path + "-foreign");
    const auto not_stuck = ask(others);

    const auto a = ask(s.lock);
    co_await granted(a);
    simple_mutex simple(s.zk, s.path + "-simple");
    semaphore permits(s.zk, s.path + "-permits", 1);
    const auto hold_simple = start<guard>([&](auto token) { simple.lock(std::move(token)); });
    const auto hold_permit = start<guard>([&](auto token) { permits.acquire(std::move(token)); });
    co_await granted(hold_simple);
    co_await granted(hold_permit);

    const auto b = ask(s.lock);
    const auto simple_too = start<guard>([&](auto token) { simple.lock(std::move(token)); });
    const auto permit_too = start<guard>([&](auto token) { permits.acquire(std::move(token)); });
    co_await eventually([&] {
        return about(log, s.path) == 1 && about(log, s.path + "-simple") == 1 &&
               about(log, s.path + "-permits") == 1;
    });

    CHECK(about(log, s.path + "-foreign") == 0);
    CHECK_FALSE(not_stuck->done());
}
