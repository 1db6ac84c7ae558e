#pragma once

#include <paddock/detail/cpp20.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace paddock {

/// The metadata that ZooKeeper keeps of a node. The fields are those of ZooKeeper's `Stat`
/// (ZooKeeper Programmer's Guide, "ZooKeeper Stat Structure").
struct node_stat {
    std::int64_t czxid = 0;    ///< the transaction that created the node
    std::int64_t mzxid = 0;    ///< the transaction that last changed its data
    std::int64_t pzxid = 0;    ///< the transaction that last changed its list of children
    std::int64_t ctime = 0;    ///< creation time, in milliseconds since 1970 by the leader's clock
    std::int64_t mtime = 0;    ///< time of the last change of the data, by the same clock
    std::int32_t version = 0;  ///< number of changes of the data
    std::int32_t cversion = 0; ///< number of changes of the list of children
    std::int32_t aversion = 0; ///< number of changes of the access control list
    std::int64_t ephemeral_owner = 0; ///< the session of an ephemeral node, else 0
    std::int32_t data_length = 0;     ///< bytes of data
    std::int32_t num_children = 0;    ///< number of children

    friend bool operator==(const node_stat&, const node_stat&) = default;
};

/// Matches every version, in `set`, `remove` and `check`.
inline constexpr std::int32_t any_version = -1;

/// The kind of a node. The `…_with_ttl` kinds need a server with
/// `zookeeper.extendedTypesEnabled=true`.
enum class create_mode {
    persistent,
    ephemeral,
    persistent_sequential,
    ephemeral_sequential,
    container,
    persistent_with_ttl,
    persistent_sequential_with_ttl,
};

/// Rights in an access control list; combine them with `|`.
enum class permission : unsigned {
    read = 1,
    write = 2,
    create = 4,
    remove = 8,
    admin = 16,
    all = 31
};

constexpr permission operator|(permission a, permission b) noexcept {
    return static_cast<permission>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// One entry of an access control list: the rights of one identity (`scheme:id`).
struct acl_entry {
    permission allowed = permission::all;
    std::string scheme = "world";
    std::string id = "anyone";

    friend bool operator==(const acl_entry&, const acl_entry&) = default;
};

using acl = std::vector<acl_entry>;

/// Grants all rights to every client: ZooKeeper's `OPEN_ACL_UNSAFE`.
inline acl open_acl() { return {acl_entry{}}; }

/// Grants all rights to the identities of this connection: ZooKeeper's `CREATOR_ALL_ACL`. For
/// clients with credentials (client_options::auth): others refuse it with errc::bad_argument.
///
/// On a lock's node it keeps others from reading and writing that node, not from deleting it: the
/// right to delete a node is that of its directory (as in all of ZooKeeper). Locks make their
/// directories for everybody; to protect a hold create the directory, before the first lock, as a
/// persistent node with this list.
inline acl creator_acl() { return {acl_entry{permission::all, "auth", ""}}; }

/// The options of `create`.
struct create_options {
    create_mode mode = create_mode::persistent;
    /// The access control list of the node.
    paddock::acl acl = open_acl();
    /// The time that a node of a `…_with_ttl` mode lives after its last change, while it has no
    /// children.
    std::chrono::milliseconds ttl{0};
};

/// The result of `create`: the path of the node (with its sequence number, if it has one) and its
/// stat.
struct create_result {
    std::string path{};
    node_stat stat{};
};

/// The result of `get`.
struct get_result {
    std::string data{};
    node_stat stat{};
};

/// The result of `children`: the names (not paths) of the children, in no order, and the node's
/// stat.
struct children_result {
    std::vector<std::string> names{};
    node_stat stat{};
};

/// The result of `get_acl`.
struct acl_result {
    paddock::acl acl{};
    node_stat stat{};
};

/// The steps of a `multi`. The C client cannot send containers or TTL nodes in a multi.
namespace op {

struct create {
    std::string path{};
    std::string data{};
    create_mode mode = create_mode::persistent;
    paddock::acl acl = open_acl();
};

struct set {
    std::string path{};
    std::string data{};
    std::int32_t version = any_version;
};

struct remove {
    std::string path{};
    std::int32_t version = any_version;
};

struct check {
    std::string path{};
    std::int32_t version = any_version;
};

} // namespace op

using operation = std::variant<op::create, op::set, op::remove, op::check>;

/// The result of one step of a `multi`: the path of a created node, the stat of a changed one.
struct operation_result {
    std::string path{};
    node_stat stat{};
};

} // namespace paddock
