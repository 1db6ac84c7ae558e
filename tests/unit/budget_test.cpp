// A budget, and its queue.

#include "support/budget.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using paddock::detail::budget;

namespace {

/// Waiters that record the order in which they are served.
struct queue {
    budget bytes{100};
    std::string order{};

    budget::waiter_id wait(std::size_t wanted, char name) {
        return bytes.wait(wanted, [this, name] { order += name; });
    }
};

} // namespace

TEST_CASE("the budget hands out bytes up to its limit, and no more") {
    budget bytes(100);
    CHECK(bytes.reserve(60));
    CHECK(bytes.reserve(40));
    CHECK_FALSE(bytes.reserve(1));
    CHECK(bytes.reserve(0));
    CHECK(bytes.used() == 100);
    bytes.release(40);
    CHECK_FALSE(bytes.reserve(41));
    CHECK(bytes.reserve(40));
}

TEST_CASE("a request larger than the whole budget never fits, however much is in use") {
    budget bytes(100);
    bytes.reserve(100);
    CHECK(bytes.can_fit(0));
    CHECK(bytes.can_fit(100));
    CHECK_FALSE(bytes.can_fit(101));
    CHECK_FALSE(bytes.can_fit(std::numeric_limits<std::size_t>::max()));
}

TEST_CASE("waiters are served in order, as far as there is room") {
    queue q;
    q.bytes.reserve(100);
    CHECK(q.wait(50, 'a') != 0);
    q.wait(10, 'b');
    q.wait(50, 'c');
    q.bytes.release(40);
    CHECK(q.order == ""); // b would fit, but a came first
    q.bytes.release(20);
    CHECK(q.order == "ab");
    CHECK(q.bytes.used() == 100);
    q.bytes.release(50);
    CHECK(q.order == "abc");
}

TEST_CASE("a new caller does not take bytes that a waiter waits for") {
    queue q;
    q.bytes.reserve(100);
    q.wait(50, 'a');
    q.bytes.release(30);
    CHECK_FALSE(q.bytes.reserve(10));
    q.bytes.release(20);
    CHECK(q.order == "a");
}

TEST_CASE("a waiter that stops waiting is not served") {
    queue q;
    q.bytes.reserve(100);
    const auto a = q.wait(50, 'a');
    q.wait(50, 'b');
    q.bytes.stop_waiting(a);
    q.bytes.stop_waiting(a);
    q.bytes.stop_waiting(4711);
    q.bytes.release(100);
    CHECK(q.order == "b");
    CHECK(q.bytes.used() == 50);
}

TEST_CASE("when the first waiter leaves, the waiters behind it that fit are served") {
    queue q;
    q.bytes.reserve(90);
    const auto a = q.wait(50, 'a');
    q.wait(10, 'b');
    q.bytes.stop_waiting(a);
    CHECK(q.order == "b");
    CHECK(q.bytes.used() == 100);
}

TEST_CASE("a waiter may give its bytes back and wait again as soon as it is served") {
    queue q;
    q.bytes.reserve(100);
    q.bytes.wait(100, [&] {
        q.order += 'a';
        q.bytes.release(100);
    });
    q.wait(100, 'b');
    q.bytes.release(100);
    CHECK(q.order == "ab");
    CHECK(q.bytes.used() == 100);
}

TEST_CASE("waiters that give their bytes back at once are not served from within each other") {
    budget bytes(1);
    REQUIRE(bytes.reserve(1));
    int served = 0, depth = 0;
    for (int n = 0; n < 3; ++n)
        bytes.wait(1, [&] {
            CHECK(++depth == 1);
            ++served;
            bytes.release(1);
            --depth;
        });
    bytes.release(1);
    CHECK(served == 3);
    CHECK(bytes.used() == 0);
}

TEST_CASE("a closed budget calls no waiter, whatever is released") {
    budget all(100);
    REQUIRE(all.reserve(60));
    bool called = false;
    const auto larger = all.wait(90, [&] { called = true; });
    all.wait(10, [&] { called = true; });
    all.close();
    all.stop_waiting(larger);
    all.release(60);
    CHECK_FALSE(called);
}
