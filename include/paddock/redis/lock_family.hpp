#pragma once

#include <paddock/any_lock_family.hpp>
#include <paddock/redis/mutex.hpp>

#include <string>
#include <string_view>

namespace paddock::redis {

class [[gnu::visibility("default")]] lock_family;

/// One lock on Redis for each key, for any number of keys: `co_await orders.lock(article)`. The
/// lock of a key is the mutex with the name of the family and the name of the key behind it; the
/// names of keys are those of paddock::lock_family. It needs no object of its own, and nothing of
/// it is left a day and twice `max_ttl` after its last hold (until then, 130 bytes and a
/// little more than the name; measured with Redis 7.0: 165 to 200 for names of 15 to 43 bytes).
///
/// Everything else: see any_lock_family and mutex.
class lock_family : public any_lock_family {
public:
    /// Creates the object; does no I/O. `name` is how the names of the locks begin: 1 to 312 bytes,
    /// which can be any, such as `orders:`; not one that begins with `paddock:`, or is a beginning
    /// of it. End it with a separator: the family `a` has the same lock for `bc` as `ab` for `c`.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a name or an option that is not
    /// acceptable.
    lock_family(const client& servers, std::string_view name, mutex_options options);
    /// As above, with the default options.
    lock_family(const client& servers, std::string_view name);
    /// A temporary client would close at the end of the expression.
    lock_family(const client&&, std::string_view, mutex_options) = delete;
    lock_family(const client&&, std::string_view) = delete;

    /// The name of a key's lock: for a mutex, and for other programs.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a key that is empty or has more
    /// than 4096 bytes, and for a family that was moved from.
    std::string name_of(std::string_view key) const;

private:
    std::string name_;
};

} // namespace paddock::redis
