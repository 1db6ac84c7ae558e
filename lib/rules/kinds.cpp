#include "rules/kinds.hpp"

#include <array>
#include <utility>

namespace paddock::rules {

namespace {

const std::array<std::pair<lock_kind, naming>, 3>& queues() {
    static const std::array<std::pair<lock_kind, naming>, 3> all{{
        {lock_kind::mutex, naming("lock")},
        {lock_kind::shared_mutex, naming::of_shared_mutex()},
        {lock_kind::election, naming::of_election()},
    }};
    return all;
}

/// An id has 32 characters at least, a marker and a number behind it 15; without an id the longest
/// name has 18.
bool has_id(std::string_view child) noexcept { return child.size() > 40; }

} // namespace

std::string_view name_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::mutex:
        return "a mutex";
    case lock_kind::shared_mutex:
        return "a shared_mutex";
    case lock_kind::election:
        return "an election";
    case lock_kind::semaphore:
        return "a semaphore";
    case lock_kind::simple_mutex:
        return "a simple_mutex";
    }
    return "a lock";
}

std::optional<lock_kind> kind_of(const naming& names) {
    for (const auto& [kind, known] : queues())
        if (known.marker() == names.marker()) return kind;
    return std::nullopt;
}

std::optional<node_of_kind> other_kind(std::span<const std::string> children, lock_kind own) {
    bool locks = false, leases = false;
    for (const std::string& child : children) {
        locks = locks || child == "locks";
        leases = leases || child == "leases";
        if (!has_id(child)) continue;
        for (const auto& [kind, names] : queues())
            if (kind != own && names.read(child)) return node_of_kind{kind, child};
    }
    if (locks && leases && own != lock_kind::semaphore)
        return node_of_kind{lock_kind::semaphore, "leases"};
    return std::nullopt;
}

} // namespace paddock::rules
