#pragma once

#include <paddock/any_lock_family.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/redis/held_key.hpp>
#include <paddock/redis/mutex.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::redis {

class [[gnu::visibility("default")]] lock_family;

/// One lock on Redis for each key, for any number of keys: `co_await orders.lock(article)`. The
/// lock of a key is the mutex with the name of the family and the name of the key behind it; the
/// names of keys are those of paddock::lock_family. It needs no object of its own, and nothing of
/// it is left a day and twice `max_ttl` after its last hold (until then, 130 bytes and a
/// little more than the name; measured with Redis 7.0: 165 to 200 for names of 15 to 43 bytes).
///
/// **Operations**: those of any_lock_family; and holder() and kick(), with the key as their first
/// argument.
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

    /// As mutex::holder() for the lock of this key; `errc::bad_argument` for a key that is not
    /// acceptable.
    template <
        asio::completion_token_for<void(error_code, std::optional<held_key>)> Token = default_token>
    [[nodiscard]] auto holder(std::string_view key, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, std::optional<held_key>)>(
            get_executor(), std::forward<Token>(token), &start_holder, lock_, std::string(key));
    }

    /// As mutex::kick() for the lock of this key; `errc::bad_argument` for a key that is not
    /// acceptable.
    template <asio::completion_token_for<void(error_code, bool)> Token = default_token>
    [[nodiscard]] auto kick(std::string_view key, held_key target, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, bool)>(
            get_executor(), std::forward<Token>(token), &start_kick, lock_, std::string(key),
            std::move(target));
    }

private:
    using lock_ptr = std::shared_ptr<const detail::line_lock>;

    lock_family(lock_ptr lock, std::string_view name);

    static void start_holder(paddock::detail::handler<void(error_code, std::optional<held_key>)>,
                             lock_ptr, std::string key);
    static void start_kick(paddock::detail::handler<void(error_code, bool)>, lock_ptr,
                           std::string key, held_key);

    lock_ptr lock_; ///< with the family's name
    std::string name_;
};

} // namespace paddock::redis
