#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

// What each main function with test cases does.

namespace paddock::test {

/// How many cases the run of this program had; none if it only listed them.
inline int cases_run = -1;

struct case_counter final : doctest::IReporter {
    explicit case_counter(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& all) override {
        cases_run = static_cast<int>(all.numTestCasesPassingFilters);
    }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("case_counter", 1, case_counter);

/// Runs the cases that fit the filters, and fails if none does: a renamed file or case is no
/// success. (Not every file has coroutines to tear down.)
inline int run_cases(int count, char** arguments) {
    const int result = doctest::Context(count, arguments).run();
    if (result != 0 || cases_run != 0 || std::getenv("PADDOCK_TEARDOWN") != nullptr) return result;
    std::cout << "no test case fits the filter\n";
    return 1;
}

} // namespace paddock::test
