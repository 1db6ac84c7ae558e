#include "native/c_convert.hpp"

namespace paddock::native {

node_stat from_c(const ::Stat& stat) noexcept {
    return {.czxid = stat.czxid,
            .mzxid = stat.mzxid,
            .pzxid = stat.pzxid,
            .ctime = stat.ctime,
            .mtime = stat.mtime,
            .version = stat.version,
            .cversion = stat.cversion,
            .aversion = stat.aversion,
            .ephemeral_owner = stat.ephemeralOwner,
            .data_length = stat.dataLength,
            .num_children = stat.numChildren};
}

acl from_c(const ::ACL_vector& entries) {
    acl converted;
    for (int i = 0; i < entries.count; ++i) {
        const ::ACL& entry = entries.data[i];
        converted.push_back({static_cast<permission>(entry.perms),
                             entry.id.scheme != nullptr ? entry.id.scheme : "",
                             entry.id.id != nullptr ? entry.id.id : ""});
    }
    return converted;
}

int to_c(create_mode mode) noexcept {
    switch (mode) {
    case create_mode::persistent:
        return ZOO_PERSISTENT;
    case create_mode::ephemeral:
        return ZOO_EPHEMERAL;
    case create_mode::persistent_sequential:
        return ZOO_PERSISTENT_SEQUENTIAL;
    case create_mode::ephemeral_sequential:
        return ZOO_EPHEMERAL_SEQUENTIAL;
    case create_mode::container:
        return ZOO_CONTAINER;
    case create_mode::persistent_with_ttl:
        return ZOO_PERSISTENT_WITH_TTL;
    case create_mode::persistent_sequential_with_ttl:
        return ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
    }
    return ZOO_PERSISTENT;
}

bool has_ttl(create_mode mode) noexcept {
    return mode == create_mode::persistent_with_ttl ||
           mode == create_mode::persistent_sequential_with_ttl;
}

bool is_sequential(create_mode mode) noexcept {
    return mode == create_mode::persistent_sequential ||
           mode == create_mode::ephemeral_sequential ||
           mode == create_mode::persistent_sequential_with_ttl;
}

c_acl::c_acl(const acl& entries) {
    for (const acl_entry& entry : entries) {
        // The C client only reads them; its struct has no const.
        entries_.push_back(
            {static_cast<std::int32_t>(entry.allowed),
             {const_cast<char*>(entry.scheme.c_str()), const_cast<char*>(entry.id.c_str())}});
    }
    vector_.count = static_cast<std::int32_t>(entries_.size());
    vector_.data = entries_.data();
}

} // namespace paddock::native
