#include "client/any_lock.hpp"
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

/// The inside of a lock_family; its description is that of a lock with the family's own name.
class key_family final : public any_family {
public:
    explicit key_family(detail::line_lock family) : family_(std::move(family)) {}

    asio::any_io_executor executor() const noexcept override {
        return family_.client->get_executor();
    }
    void start(paddock::detail::handler<void(error_code, guard)> h, std::string key, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        if (const auto why = paddock::rules::key_fault(key); !why.empty())
            return paddock::detail::make_pending_call(family_.client, std::move(h))
                ->fail(refused_argument("key", why));
        auto lock = family_;
        lock.name += paddock::rules::node_name_of_key(key);
        lock.start(std::move(h), how, limit);
    }

private:
    const detail::line_lock family_;
};

} // namespace

lock_family::lock_family(const client& servers, std::string_view name, mutex_options options)
    : any_lock_family(std::make_shared<const key_family>(detail::make_line_lock(
          "lock_family", servers, checked_name(name), longest_family_name, options)))
    , name_(name) {}

lock_family::lock_family(const client& servers, std::string_view name)
    : lock_family(servers, name, mutex_options()) {}

std::string lock_family::name_of(std::string_view key) const {
    if (name_.empty()) throw bad_argument("lock_family", "was moved from");
    if (const auto fault = paddock::rules::key_fault(key); !fault.empty())
        throw bad_argument("key", fault);
    return name_ + paddock::rules::node_name_of_key(key);
}

} // namespace paddock::redis
