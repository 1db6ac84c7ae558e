#include "client/any_lock.hpp"
#include "redis/locks/key_look.hpp"
#include "redis/locks/line_lock.hpp"
#include "rules/keys.hpp"
#include "support/argument.hpp"

#include <paddock/redis/lock_family.hpp>

#include <memory>
#include <utility>

namespace paddock::redis {

namespace {

using paddock::detail::any_family;

/// With the longest name of a key behind it a family's name is a lock's name.
constexpr auto longest_family_name = detail::longest_name - paddock::rules::longest_key_name;

/// No key must lead to the names that the library uses itself.
std::string_view checked_name(std::string_view family) {
    constexpr auto reserved = detail::reserved_prefix;
    if (!family.empty() && family != reserved && reserved.starts_with(family))
        throw bad_argument("lock_family name", family,
                           "is the beginning of \"paddock:\", which is reserved: end it with a "
                           "separator, such as ':'");
    return family;
}

/// Calls `start` with the handler and the name of the key's lock. A key that is not acceptable
/// completes the operation with errc::bad_argument.
template <typename Result, typename Start>
void with_name(const detail::line_lock& family, const std::string& key,
               paddock::detail::handler<void(error_code, Result)>&& h, Start start) {
    if (const auto why = paddock::rules::key_fault(key); !why.empty())
        return paddock::detail::make_pending_call(family.client, std::move(h))
            ->fail(refused_argument("key", why));
    start(std::move(h), family.name + paddock::rules::node_name_of_key(key));
}

/// The inside of a lock_family; its description is that of a lock with the family's own name.
class key_family final : public any_family {
public:
    explicit key_family(detail::line_lock family) : family_(std::move(family)) {}

    asio::any_io_executor executor() const noexcept override {
        return family_.client->get_executor();
    }
    void start(paddock::detail::handler<void(error_code, guard)> h, std::string key, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        with_name(family_, key, std::move(h), [&](auto user, std::string name) {
            auto lock = family_;
            lock.name = std::move(name);
            lock.start(std::move(user), how, limit);
        });
    }

private:
    const detail::line_lock family_;
};

} // namespace

lock_family::lock_family(const client& servers, std::string_view name, mutex_options options)
    : lock_family(std::make_shared<const detail::line_lock>(detail::make_line_lock(
                      "lock_family", servers, checked_name(name), longest_family_name, options)),
                  name) {}

lock_family::lock_family(lock_ptr lock, std::string_view name)
    : any_lock_family(std::make_shared<const key_family>(*lock))
    , lock_(std::move(lock))
    , name_(name) {}

lock_family::lock_family(const client& servers, std::string_view name)
    : lock_family(servers, name, mutex_options()) {}

void lock_family::start_holder(
    paddock::detail::handler<void(error_code, std::optional<held_key>)> h, lock_ptr lock,
    std::string key) {
    with_name(*lock, key, std::move(h), [&](auto user, const std::string& name) {
        detail::find_holder(*lock, name, std::move(user));
    });
}

void lock_family::start_kick(paddock::detail::handler<void(error_code, bool)> h, lock_ptr lock,
                             std::string key, held_key target) {
    with_name(*lock, key, std::move(h), [&](auto user, const std::string& name) {
        detail::kick(*lock, name, target, std::move(user));
    });
}

std::string lock_family::name_of(std::string_view key) const {
    if (name_.empty()) throw bad_argument("lock_family", "was moved from");
    if (const auto fault = paddock::rules::key_fault(key); !fault.empty())
        throw bad_argument("key", fault);
    return name_ + paddock::rules::node_name_of_key(key);
}

} // namespace paddock::redis
