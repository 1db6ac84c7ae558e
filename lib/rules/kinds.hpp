#pragma once

#include "rules/names.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::rules {

/// Locks of one kind at one path exclude each other, whatever their objects are called: a
/// recursive_mutex is a mutex, and a recursive_shared_mutex a shared_mutex.
enum class lock_kind { mutex, shared_mutex, election, semaphore, simple_mutex };

/// As the user calls it: `a mutex`.
std::string_view name_of(lock_kind kind) noexcept;

/// The kind of a queue with these names; empty if the user has given the lock a name.
std::optional<lock_kind> kind_of(const naming& names);

struct node_of_kind {
    lock_kind kind;
    std::string_view name;
};
/// A child of a lock's directory that surely belongs to a lock of another kind: its name has an
/// id, and the marker of that kind, or it is a semaphore's directory.
std::optional<node_of_kind> other_kind(std::span<const std::string> children, lock_kind own);

} // namespace paddock::rules
