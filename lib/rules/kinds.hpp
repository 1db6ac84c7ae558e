#pragma once

#include "rules/names.hpp"

#include <cstddef>
#include <functional>
#include <map>
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

/// Which kind of lock uses each path, of the locks of one client. A user looks a path up once, and
/// may begin and end many times.
class kinds_in_use {
    struct uses {
        std::optional<lock_kind> kind; ///< of those that use the path now
        std::size_t now = 0;
        std::size_t known = 0; ///< by so many users
    };
    using paths = std::map<std::string, uses, std::less<>>;

public:
    using place = paths::iterator;

    place know(std::string_view path);
    void forget(place at);

    /// One more of this kind; or the kind that uses the path, if that is another one.
    static std::optional<lock_kind> begin(place at, lock_kind kind);
    static void end(place at);

private:
    paths paths_;
};

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
