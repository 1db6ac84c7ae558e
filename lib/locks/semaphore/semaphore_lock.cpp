#include "locks/semaphore/semaphore_lock.hpp"

#include "support/argument.hpp"

namespace paddock::detail {

void check_count(const semaphore_lock& lock, std::int32_t count) {
    if (count < 1) throw bad_argument("semaphore count", std::to_string(count), "is less than one");
    if (lock.fixed() && count > lock.permits)
        throw bad_argument("semaphore count", std::to_string(count),
                           "is more than the semaphore's " + std::to_string(lock.permits));
}

std::string lease_prefix(const semaphore_lock& lock, rules::node_id id) {
    return rules::naming::of_leases().prefix(lock.queue.client->claims(), id);
}

std::size_t permit_bytes(const semaphore_lock& lock) {
    return node_bytes(lock.directory, lease_prefix(lock, 0));
}

std::size_t acquire_bytes(const semaphore_lock& lock, std::size_t count) {
    return count * permit_bytes(lock) + entry_bytes(lock.queue, rules::role::exclusive);
}

} // namespace paddock::detail
