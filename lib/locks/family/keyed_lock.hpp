#pragma once

#include "locks/fair/fair_lock.hpp"
#include "locks/mutex/mutex_call.hpp"
#include "rules/keys.hpp"
#include "session/session_call.hpp"
#include "support/argument.hpp"

#include <paddock/contender.hpp>
#include <paddock/guard.hpp>
#include <paddock/ticket.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

// The locks of a family. The description of a family is that of a lock at the family's own path.

/// Checks the family's path: with every key's name it must be a path that a lock accepts.
void check_family_path(std::string_view argument, std::string_view path);

/// The directory of a key's lock, without the client's root. Throws for a key that is not
/// acceptable.
std::string path_of_key(const fair_lock& family, std::string_view key);

/// The description of a key's lock; the key has no fault.
std::shared_ptr<const fair_lock> lock_of_key(const fair_lock& family, std::string_view key);

/// Calls `start` with the handler and the key's lock. A key that is not acceptable completes the
/// operation with errc::bad_argument.
template <typename... Result, typename Start>
void with_key(const fair_lock& family, std::string_view key,
              handler<void(error_code, Result...)>&& h, Start start) {
    const auto why = rules::key_fault(key);
    if (why.empty()) return start(std::move(h), lock_of_key(family, key));
    make_pending_call(family.client, std::move(h))->fail(refused_argument("key", why));
}

/// Starts a call of a lock.
void start_with_key(const fair_lock& family, std::string_view key,
                    handler<void(error_code, guard)> h, mutex_call::kind how, rules::role as,
                    std::optional<std::chrono::nanoseconds> limit = std::nullopt);

void enqueue_with_key(const fair_lock& family, std::string_view key,
                      handler<void(error_code, ticket)> h, rules::role as);

void find_contenders(const fair_lock& family, std::string_view key,
                     handler<void(error_code, std::vector<contender>)> h);

// The calls revoke() and kick(); `path` is without the client's root.
void request_revoke(const fair_lock& family, std::string_view key, handler<void(error_code)> h,
                    const std::string& path);
void kick(const fair_lock& family, std::string_view key, handler<void(error_code)> h,
          const std::string& path);

} // namespace paddock::detail
