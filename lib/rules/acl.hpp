#pragma once

#include <paddock/znode.hpp>

#include <string_view>

namespace paddock::rules {

/// Why ZooKeeper would refuse an access control list, or could read it in another way than the
/// caller; empty if it is valid. The scheme `auth` stands for the creator's credentials.
inline std::string_view acl_fault(const acl& entries, bool has_credentials) noexcept {
    if (entries.empty()) return "is empty";
    for (const auto& one : entries)
        if (one.scheme == "auth" && !has_credentials)
            return "is for the creator alone (creator_acl), who is nobody: client_options::auth "
                   "has no credentials";
    for (const auto& one : entries)
        if ((one.allowed | permission::all) != permission::all)
            return "has a permission that does not exist";
    return {};
}

} // namespace paddock::rules
