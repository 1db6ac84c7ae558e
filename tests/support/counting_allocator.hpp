#pragma once

#include <cstddef>
#include <memory>

namespace paddock::test {

/// Counts the objects in memory of its own.
template <class T>
struct counting_allocator {
    using value_type = T;
    int* now;
    int* ever;

    counting_allocator(int& n, int& e) : now(&n), ever(&e) {}
    template <class Other>
    counting_allocator(const counting_allocator<Other>& other) : now(other.now), ever(other.ever) {}
    T* allocate(std::size_t n) {
        ++*now;
        ++*ever;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) {
        --*now;
        std::allocator<T>().deallocate(p, n);
    }
    friend bool operator==(const counting_allocator&, const counting_allocator&) = default;
};

} // namespace paddock::test
