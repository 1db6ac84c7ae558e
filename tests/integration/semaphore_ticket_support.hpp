#pragma once

#include "support/semaphore_harness.hpp"

// Helpers for the tests of a semaphore's tickets.

namespace paddock::test {

inline under_way<ticket> ask_for_place(semaphore& s, std::int32_t count = 1) {
    return start<ticket>([&](auto token) { s.enqueue(count, std::move(token)); });
}
inline under_way<std::size_t> change_of(ticket& t) {
    return start<std::size_t>([&](auto token) { t.next_change(std::move(token)); });
}
inline lock_call acquired(ticket& t) {
    return start<guard>([&](auto token) { t.acquired(std::move(token)); });
}

/// Another program waits for permits.
inline std::string foreign_waiter(semaphore_scene& s) {
    s.direct.make_path(s.path + "/locks");
    return queue_up(s.direct, s.path + "/locks");
}

} // namespace paddock::test
