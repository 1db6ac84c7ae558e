#include "locks/family/keyed_lock.hpp"

#include "locks/call/arguments.hpp"
#include "locks/fair/contenders.hpp"
#include "locks/fair/revoke.hpp"
#include "rules/paths.hpp"
#include "support/argument.hpp"

#include <utility>

namespace paddock::detail {

void check_family_path(std::string_view argument, std::string_view path) {
    constexpr std::size_t slash = 1;
    if (path.size() + slash + rules::longest_key_name > longest_path)
        throw bad_argument(argument, "is longer than 311 bytes");
    check_path(argument, path);
}

namespace {
std::string directory_of(const fair_lock& family, std::string_view key) {
    return rules::child(family.directory, rules::node_name_of_key(key));
}
} // namespace

std::string path_of_key(const fair_lock& family, std::string_view key) {
    if (const auto fault = rules::key_fault(key); !fault.empty()) throw bad_argument("key", fault);
    return rules::without(family.client->root(), directory_of(family, key));
}

std::shared_ptr<const fair_lock> lock_of_key(const fair_lock& family, std::string_view key) {
    auto lock = std::make_shared<fair_lock>(family);
    lock->directory = directory_of(family, key);
    lock->own_directory = !family.nodes->persistent_parents;
    return lock;
}

void start_with_key(const fair_lock& family, std::string_view key,
                    handler<void(error_code, guard)> h, mutex_call::kind how, rules::role as,
                    std::optional<std::chrono::nanoseconds> limit) {
    with_key(family, key, std::move(h), [&](auto user, auto lock) {
        std::make_shared<mutex_call>(std::move(lock), std::move(user), how, as)->start(limit);
    });
}

void enqueue_with_key(const fair_lock& family, std::string_view key,
                      handler<void(error_code, ticket)> h, rules::role as) {
    with_key(family, key, std::move(h),
             [&](auto user, auto lock) { enqueue(std::move(lock), std::move(user), as); });
}

void find_contenders(const fair_lock& family, std::string_view key,
                     handler<void(error_code, std::vector<contender>)> h) {
    with_key(family, key, std::move(h),
             [](auto user, auto lock) { find_contenders(std::move(lock), std::move(user)); });
}

void request_revoke(const fair_lock& family, std::string_view key, handler<void(error_code)> h,
                    const std::string& path) {
    with_key(family, key, std::move(h), [&path](auto user, auto lock) {
        request_revoke(std::move(lock), std::move(user), path);
    });
}

void kick(const fair_lock& family, std::string_view key, handler<void(error_code)> h,
          const std::string& path) {
    with_key(family, key, std::move(h),
             [&path](auto user, auto lock) { kick(std::move(lock), std::move(user), path); });
}

} // namespace paddock::detail
