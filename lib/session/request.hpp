#pragma once

#include "native/calls.hpp"

#include <paddock/znode.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::detail {

/// Requests to the ensemble. Paths are full paths, with the client's root. A request that is
/// `mergeable` may be executed in one multi with others: see batch. One `with_directory` creates
/// the node's directory before it, or deletes it after it, in the same transaction: see
/// own_directories.
namespace requests {

using shared_options = std::shared_ptr<const create_options>;
inline shared_options share(create_options how) {
    return std::make_shared<const create_options>(std::move(how));
}

struct create {
    std::string path;
    std::string data;
    shared_options how;
    bool mergeable = false;
    bool with_directory = false;
};
struct remove {
    std::string path;
    std::int32_t version = any_version;
    bool mergeable = false;
    bool with_directory = false;
};
struct get {
    std::string path;
    bool watch = false;
};
struct exists {
    std::string path;
    bool watch = false;
};
struct list {
    std::string path;
    bool watch = false;
};
struct set {
    std::string path;
    std::string data;
    std::int32_t version = any_version;
};
struct sync {
    std::string path;
};
struct get_acl {
    std::string path;
};
struct set_acl {
    std::string path;
    acl entries;
    std::int32_t version = any_version;
};
struct multi {
    std::vector<operation> steps;
};
struct remove_watches { ///< all watches of the path, in the C client and in the server
    std::string path;
};

} // namespace requests

/// A request as a value, which determines its size, the servers that take part in its answer, and
/// the call of the C client.
using request = std::variant<requests::create, requests::remove, requests::get, requests::exists,
                             requests::list, requests::set, requests::sync, requests::get_acl,
                             requests::set_acl, requests::multi, requests::remove_watches>;

/// The servers that take part in the answer to a request.
enum class answered_by {
    server, ///< the connected server alone: reads
    leader, ///< the leader: sync
    quorum, ///< a quorum: writes, failed ones too
};
answered_by answered(const request& what);

/// `create`, `delete`, …, as ZooKeeper's commands are called.
std::string_view name_of(const request& what) noexcept;

/// As rules::request_bytes: the size that a server compares with its jute.maxbuffer.
std::size_t bytes_of(const request& what);

/// Calls the C client, and returns its code.
int send(const request& what, native::calls& table, native::calls::done reply_to);

} // namespace paddock::detail
