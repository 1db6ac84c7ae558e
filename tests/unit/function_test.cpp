// A callable that is moved, never copied.

#include "support/function.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using paddock::unique_function;

static_assert(!std::is_copy_constructible_v<unique_function<void()>>);
static_assert(std::is_nothrow_move_constructible_v<unique_function<void()>>);
static_assert(std::is_nothrow_move_assignable_v<unique_function<void()>>);
static_assert(!std::is_constructible_v<unique_function<void()>, int>);
static_assert(!std::is_constructible_v<unique_function<int(int)>, std::string (*)(int)>);

TEST_CASE("an empty function converts to false") {
    unique_function<void()> f;
    CHECK_FALSE(f);
    f = [] {};
    CHECK(f);
    f = {};
    CHECK_FALSE(f);
}

TEST_CASE("a function passes arguments and result to and from its target") {
    unique_function<int(int, int)> add = [](int a, int b) { return a + b; };
    CHECK(add(2, 3) == 5);
    const auto twice = [](int n) { return 2 * n; };
    unique_function<long(int)> from_lvalue = twice;
    CHECK(from_lvalue(21) == 42);
}

TEST_CASE("a function holds a move-only target, and passes move-only arguments") {
    unique_function<std::unique_ptr<int>(std::unique_ptr<int>)> f =
        [own = std::make_unique<int>(2)](std::unique_ptr<int> other) {
            *other *= *own;
            return other;
        };
    CHECK(*f(std::make_unique<int>(21)) == 42);
}

TEST_CASE("a function passes references as references") {
    unique_function<void(std::string&)> f = [](std::string& text) { text += "!"; };
    std::string text = "hey";
    f(text);
    CHECK(text == "hey!");
}

TEST_CASE("a moved-from function is empty; its target is destroyed once, and in time") {
    const auto alive = std::make_shared<int>(0);
    unique_function<long()> a = [alive] { return alive.use_count(); };
    CHECK(alive.use_count() == 2);
    unique_function<long()> b = std::move(a);
    CHECK_FALSE(a);
    CHECK(b() == 2);
    b = [] { return 0L; };
    CHECK(alive.use_count() == 1);
}

TEST_CASE("the target's state survives from call to call") {
    unique_function<int()> next = [n = 0]() mutable { return ++n; };
    next();
    CHECK(next() == 2);
}
