#pragma once

#include "native/calls.hpp"

#include <paddock/znode.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace paddock::detail {

/// Requests to the ensemble. Paths are as the ensemble knows them: below the client's root.
namespace requests {

struct create {
    std::string path;
    std::string data;
    create_options how;
};
struct remove {
    std::string path;
    std::int32_t version = any_version;
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
struct remove_watches { ///< every watch of the path, on both sides
    std::string path;
};

} // namespace requests

/// A request as a value. How large it is, which servers must have a say before it is answered, and
/// how it becomes a call of the C client follow from it.
using request = std::variant<requests::create, requests::remove, requests::get, requests::exists,
                             requests::list, requests::set, requests::sync, requests::get_acl,
                             requests::set_acl, requests::multi, requests::remove_watches>;

/// Which servers must have a say before a request is answered.
enum class answered_by {
    server, ///< the one at hand, and no other: reads
    leader, ///< sync
    quorum, ///< writes, whatever the answer
};
answered_by answered(const request& what);

/// As rules::request_bytes: what a server compares with its jute.maxbuffer.
std::size_t bytes_of(const request& what);

/// Makes the C client's call, and returns its code.
int send(const request& what, native::calls& table, native::calls::done reply_to);

} // namespace paddock::detail
