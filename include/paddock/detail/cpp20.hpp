#pragma once

// Every public header includes this one before all else, itself or through the first header that it
// includes, so that this is what a compiler says first.
#if __cplusplus < 202002L
#error "paddock needs C++20: compile with -std=c++20 (g++ 12, clang 14, or later)"
#elif !defined(__cpp_impl_coroutine) && !defined(__cpp_coroutines)
#error "paddock needs C++20 coroutines, which this compiler does not have or use"
#endif
