#pragma once

#include "client/metadata.hpp"
#include "session/request.hpp"

#include <paddock/znode.hpp>

#include <utility>

namespace paddock::detail {

/// How a lock makes its nodes. All contenders at the lock share it.
struct node_terms {
    node_terms(metadata of_contender, acl access, bool persistent)
        : data(std::move(of_contender))
        , how(requests::share(
              {.mode = create_mode::ephemeral_sequential, .acl = std::move(access), .ttl = {}}))
        , persistent_parents(persistent) {}

    metadata data;
    requests::shared_options how;
    bool persistent_parents;

    friend bool operator==(const node_terms& a, const node_terms& b) {
        return a.data == b.data && a.how->acl == b.how->acl &&
               a.persistent_parents == b.persistent_parents;
    }
};

} // namespace paddock::detail
