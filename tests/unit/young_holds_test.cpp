// When a hold is old enough for a watch, and the cost of holds that end before.

#include "session/young_holds.hpp"
#include "support/fake_environment.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

struct hold_ages {
    void add(int number) {
        young.add([this, number] { grown.push_back(number); });
    }

    fake_environment env;
    detail::young_holds young{env};
    std::vector<int> grown;
};

} // namespace

TEST_CASE_FIXTURE(hold_ages, "each hold is old after 80 ms") {
    add(1);
    env.advance(60ms);
    add(2);
    env.advance(19ms);
    CHECK(grown.empty());
    env.advance(1ms);
    CHECK(grown == std::vector{1});
    env.advance(59ms);
    CHECK(grown == std::vector{1});
    env.advance(1ms);
    CHECK(grown == std::vector{1, 2});
    CHECK(env.armed() == 0);
}

TEST_CASE_FIXTURE(hold_ages, "all holds share one timer, which seldom fires") {
    std::set<boot_clock::time_point> looks;
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
        young.add([this, &looks, &count, begin = env.now()] {
            ++count;
            looks.insert(env.now());
            CHECK(env.now() - begin >= 80ms);
            CHECK(env.now() - begin <= 100ms);
        });
        CHECK(env.armed() == 1);
        env.advance(1ms);
    }
    env.advance(100ms);
    CHECK(count == 1000);
    CHECK(looks.size() <= 51);
}

TEST_CASE_FIXTURE(hold_ages,
                  "a handler for an old hold may begin another hold, or end the last one") {
    young.add([this] { add(2); });
    SUBCASE("another") {
        env.advance(200ms);
        CHECK(grown == std::vector{2});
    }
    SUBCASE("the last") {
        young.add([this] { young.clear(); });
        add(3);
        env.advance(1s);
        CHECK(grown.empty());
        CHECK(env.armed() == 0);
    }
}
