// The budget of bytes, and its queue.

#include "session/budget.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using paddock::detail::budget;

namespace {

/// Waiters who write down that it was their turn.
struct queue {
    budget bytes{100};
    std::string order{};

    budget::turn wait(std::size_t wanted, char name) {
        return bytes.wait(wanted, [this, name] { order += name; });
    }
};

} // namespace

TEST_CASE("there is room up to the limit, and no more") {
    budget bytes(100);
    CHECK(bytes.take(60));
    CHECK(bytes.take(40));
    CHECK_FALSE(bytes.take(1));
    CHECK(bytes.take(0));
    CHECK(bytes.used() == 100);
    bytes.give(40);
    CHECK_FALSE(bytes.take(41));
    CHECK(bytes.take(40));
}

TEST_CASE("what is larger than the whole budget will never fit, however much is in use") {
    budget bytes(100);
    bytes.take(100);
    CHECK(bytes.possible(0));
    CHECK(bytes.possible(100));
    CHECK_FALSE(bytes.possible(101));
    CHECK_FALSE(bytes.possible(std::numeric_limits<std::size_t>::max()));
}

TEST_CASE("who waits is served in turn, as far as there is room") {
    queue q;
    q.bytes.take(100);
    CHECK(q.wait(50, 'a') != 0);
    q.wait(10, 'b');
    q.wait(50, 'c');
    q.bytes.give(40);
    CHECK(q.order == ""); // b would fit, but a came first
    q.bytes.give(20);
    CHECK(q.order == "ab");
    CHECK(q.bytes.used() == 100);
    q.bytes.give(50);
    CHECK(q.order == "abc");
}

TEST_CASE("nobody takes what others wait for") {
    queue q;
    q.bytes.take(100);
    q.wait(50, 'a');
    q.bytes.give(30);
    CHECK_FALSE(q.bytes.take(10));
    q.bytes.give(20);
    CHECK(q.order == "a");
}

TEST_CASE("who stops waiting is not served") {
    queue q;
    q.bytes.take(100);
    const auto a = q.wait(50, 'a');
    q.wait(50, 'b');
    q.bytes.stop_waiting(a);
    q.bytes.stop_waiting(a);
    q.bytes.stop_waiting(4711);
    q.bytes.give(100);
    CHECK(q.order == "b");
    CHECK(q.bytes.used() == 50);
}

TEST_CASE("when the first in the queue leaves, those behind who fit are served") {
    queue q;
    q.bytes.take(90);
    const auto a = q.wait(50, 'a');
    q.wait(10, 'b');
    q.bytes.stop_waiting(a);
    CHECK(q.order == "b");
    CHECK(q.bytes.used() == 100);
}

TEST_CASE("who is served may give back at once, and ask again") {
    queue q;
    q.bytes.take(100);
    q.bytes.wait(100, [&] {
        q.order += 'a';
        q.bytes.give(100);
    });
    q.wait(100, 'b');
    q.bytes.give(100);
    CHECK(q.order == "ab");
    CHECK(q.bytes.used() == 100);
}
