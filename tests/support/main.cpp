#define DOCTEST_CONFIG_IMPLEMENT
#include "run_cases.hpp"

#if defined(__SANITIZE_THREAD__)
// Asio 1.81 counts the owners of an executor with a release and a fence, and the thread sanitizer
// does not see fences (asio/detail/atomic_count.hpp, -Wno-tsan).
extern "C" const char* __tsan_default_suppressions() {
    return "race:boost::asio::execution::detail::shared_target_executor\n";
}
#endif

int main(int count, char** arguments) { return paddock::test::run_cases(count, arguments); }
