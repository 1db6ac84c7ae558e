#pragma once

#include "native/calls.hpp"

#include <paddock/znode.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// The answers of ZooKeeper's servers.
namespace code {
using namespace native::code;
inline constexpr int bad_version = -103;
inline constexpr int no_children_for_ephemerals = -108;
inline constexpr int node_exists = -110;
inline constexpr int no_node = -101;
inline constexpr int not_empty = -111;
inline constexpr int session_expired = -112;
inline constexpr int session_moved = -118;
inline constexpr int no_watcher = -121;
} // namespace code

enum class verb {
    create,
    remove,
    set,
    check,
    multi,
    get,
    exists,
    children,
    sync,
    ping,
    set_watches,
    remove_watches,
    get_acl,
    close
};

/// A client's request. A verb needs only a few of the fields.
struct request {
    verb what = verb::ping;
    int xid = 0;
    std::string path{};
    std::string data{};
    create_mode mode = create_mode::persistent;
    std::int32_t version = any_version;
    bool watch = false;
    std::vector<request> steps{}; ///< of a multi

    // Of set_watches:
    std::int64_t seen = 0;
    std::vector<std::string> data_watches{}, exist_watches{}, child_watches{};
};

/// A server's packet: the end of a handshake, an answer, or an event of a watch.
struct packet {
    enum kind { session, answer, event } what = answer;
    int xid = 0;
    int rc = 0;
    std::int64_t zxid = 0;  ///< of the header; 0 if there is none
    std::int64_t truth = 0; ///< the server's own zxid, which is not on the wire
    std::string value{};
    std::optional<node_stat> stat{};
    std::vector<std::string> names{};
    std::vector<operation_result> results{};
    int refused_step = -1;
    native::watch_type type{};            ///< of an event; `value` is the path
    std::int64_t session_id = 0;          ///< of the handshake: 0 if it is over
    std::chrono::milliseconds timeout{0}; ///< likewise, as negotiated
};

/// One change of the tree, already decided.
struct change {
    enum kind { create, remove, set, nothing } what;
    std::string path;
    std::string data{};
    std::int64_t owner = 0;
    bool container = false;
};

/// An entry in the log of every server.
struct txn {
    enum kind { changes, error, open_session, close_session } what = changes;
    std::int64_t zxid = 0;
    std::int64_t time = 0; ///< milliseconds since 1970, by the leader's clock
    std::int64_t session = 0;
    std::vector<change> steps{};
    int rc = 0;            ///< of an error
    int refused_step = -1; ///< of a multi
    bool multi = false;
    std::chrono::milliseconds timeout{0}; ///< of a new session

    // The server that waits for it, and its number of the request.
    int origin = -1;
    std::uint64_t ticket = 0;
};

} // namespace paddock::test::sim
