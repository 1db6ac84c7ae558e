// Error codes that name the argument which an operation has refused.

#include "support/argument.hpp"

#include <doctest/doctest.h>

#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace paddock;

TEST_CASE("the code of a refused argument equals errc::bad_argument, with a text of its own") {
    const auto code = refused_argument("path", "is empty");
    CHECK(code.message() == "path is empty");
    CHECK(code == errc::bad_argument);
    CHECK(errc::bad_argument == code);
    CHECK(code == refused_argument("data", "is too long"));
    CHECK(code == condition::bad_argument);
    CHECK(code != errc::closed);
    CHECK(code != condition::closed);
    CHECK(code.category() == paddock_category());
    CHECK(std::string(code.category().name()) == "paddock");
    CHECK(hash_value(code) == hash_value(error_code(errc::bad_argument)));
    CHECK(code.failed());
    CHECK(code.default_error_condition() ==
          error_code(errc::bad_argument).default_error_condition());
    CHECK(error_code(static_cast<int>(errc::closed), code.category()).message() ==
          error_code(errc::closed).message());
}

TEST_CASE("control characters in the text are escaped") {
    CHECK(refused_argument("a\n", "is wrong").message() == "a\\x0a is wrong");
}

TEST_CASE("as a std::error_code it keeps its text, and meets the condition") {
    const std::error_code code = refused_argument("path", "is empty");
    CHECK(code.message() == "path is empty");
    const std::error_condition bad = make_error_condition(condition::bad_argument);
    CHECK(code == bad);
    CHECK(code != std::error_condition(make_error_condition(condition::closed)));
    CHECK(error_code(code) == errc::bad_argument);
}

TEST_CASE("equal texts share a category, from any thread") {
    std::vector<const boost::system::error_category*> found(4);
    std::vector<std::thread> threads;
    for (auto& one : found)
        threads.emplace_back([&one] { one = &refused_argument("thread", "is equal").category(); });
    for (auto& one : threads)
        one.join();
    for (const auto* const one : found)
        CHECK(one == found.front());
}
