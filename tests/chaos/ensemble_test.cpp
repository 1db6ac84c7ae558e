// The base of the other tests of this folder: links can be disturbed, and servers lose their
// connections.

#include "support/co_test.hpp"
#include "support/foreigner.hpp"
#include "support/zk_ensemble.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <thread>

using namespace paddock::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

void until(const char* what, const std::function<bool()>& predicate) {
    const auto deadline = steady_clock::now() + scaled(30s);
    while (!predicate()) {
        if (steady_clock::now() > deadline) FAIL("not in time: " << what);
        std::this_thread::sleep_for(20ms);
    }
}

} // namespace

TEST_CASE("a leader that is cut off is replaced, and follows when it is back") {
    zk_ensemble ensemble;
    for (const auto how : {severance::reset, severance::half, severance::silence}) {
        CAPTURE(static_cast<int>(how));
        const auto old = ensemble.await_leader();
        ensemble.cut_off(old, how);
        until("another leads alone", [&] {
            const auto now = ensemble.leader();
            return now && *now != old;
        });
        const auto next = *ensemble.leader();
        foreigner by(ensemble.server(next).address());
        const auto path = by.create("/while-cut-off-", "", node_mode::persistent_sequential);
        CHECK_FALSE(ensemble.server(old).answers());
        ensemble.heal();
        CHECK(ensemble.await_leader() == next);
        foreigner other(ensemble.server(old).address());
        other.sync("/");
        CHECK(other.exists(path));
    }
}

TEST_CASE("a killed leader is replaced, and comes back; so does a paused one") {
    zk_ensemble ensemble;
    auto old = ensemble.await_leader();
    ensemble.server(old).kill();
    until("another leads", [&] { return ensemble.leader().has_value(); });
    ensemble.server(old).start();
    old = ensemble.await_leader();
    ensemble.pause(old);
    until("another leads", [&] { return ensemble.leader().has_value(); });
    ensemble.resume(old);
    CHECK(ensemble.await_leader() != old);
}
