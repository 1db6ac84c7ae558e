#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#if defined(__SANITIZE_THREAD__)
// Asio 1.81 counts the owners of an executor with a release and a fence, and the thread sanitizer
// does not see fences (asio/detail/atomic_count.hpp, -Wno-tsan).
extern "C" const char* __tsan_default_suppressions() {
    return "race:boost::asio::execution::detail::shared_target_executor\n";
}
#endif
