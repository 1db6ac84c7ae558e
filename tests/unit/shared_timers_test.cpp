// Timers that share one timer of the environment.

#include "support/fake_environment.hpp"
#include "support/shared_timers.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

struct stage {
    /// Appends the letter when it fires.
    void arm(timer& one, boot_clock::duration in, char letter) {
        one.arm(env.now() + in, [this, letter] { fired += letter; });
    }

    fake_environment env;
    std::optional<shared_timers> all{std::in_place, env};
    std::unique_ptr<timer> a = all->make(), b = all->make(), c = all->make();
    std::string fired;
};

} // namespace

TEST_CASE_FIXTURE(stage, "each timer fires once, when it is due, whatever the others do") {
    arm(*a, 30ms, 'a');
    arm(*b, 10ms, 'b');
    arm(*c, 20ms, 'c');
    CHECK(env.armed() == 1);
    env.advance(9ms);
    CHECK(fired.empty());
    env.advance(1ms);
    CHECK(fired == "b");
    c->cancel();
    env.advance(1h);
    CHECK(fired == "ba");
    CHECK(env.armed() == 0);
    arm(*c, -1h, 'c'); // never from within arm()
    CHECK(fired == "ba");
    env.advance(0ms);
    CHECK(fired == "bac");
}

TEST_CASE_FIXTURE(stage, "a timer that is armed again or destroyed forgets what it was to do") {
    arm(*a, 10ms, 'x');
    arm(*a, 30ms, 'a');
    arm(*b, 20ms, 'x');
    b.reset();
    env.advance(29ms);
    CHECK(fired.empty());
    arm(*a, 1h, 'x');
    arm(*a, 1ms, 'a');
    env.advance(2h);
    CHECK(fired == "a");
}

TEST_CASE_FIXTURE(stage, "what fires may arm, cancel and destroy all of them") {
    int rounds = 0;
    SUBCASE("itself, for a time that has passed: the others come first") {
        std::function<void()> again = [&] {
            fired += 'a';
            if (++rounds < 3) a->arm(env.now() - 1h, again);
        };
        a->arm(env.now() + 10ms, again);
        arm(*b, 10ms, 'b');
        env.advance(10ms);
        CHECK(fired == "abaa");
    }
    SUBCASE("another one that is due") {
        a->arm(env.now() + 10ms, [&] {
            b->cancel();
            arm(*c, 5ms, 'c');
        });
        arm(*b, 10ms, 'b');
        arm(*c, 10ms, 'x');
        env.advance(1h);
        CHECK(fired == "c");
    }
    SUBCASE("everything") {
        arm(*b, 10ms, 'b');
        a->arm(env.now(), [&] {
            all->clear();
            all.reset();
            a.reset();
        });
        env.advance(1h);
        CHECK(fired.empty());
        arm(*b, 0ms, 'b');
        env.advance(1h);
        CHECK(fired.empty());
    }
    CHECK(env.armed() == 0);
}
