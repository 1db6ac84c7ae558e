#pragma once

#include <chrono>

// Sanitizers make everything several times slower: every time limit of the tests is multiplied by
// this, so that a limit says the same in every build.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PADDOCK_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PADDOCK_TEST_SANITIZED 1
#endif
#endif

namespace paddock::test {

#if defined(PADDOCK_TEST_SANITIZED)
inline constexpr int time_scale = 4;
#else
inline constexpr int time_scale = 1;
#endif

inline std::chrono::milliseconds scaled(std::chrono::milliseconds limit) {
    return limit * time_scale;
}

} // namespace paddock::test
