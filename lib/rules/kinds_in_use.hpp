#pragma once

#include "rules/kinds.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::rules {

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

} // namespace paddock::rules
