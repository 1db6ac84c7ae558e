#pragma once

#include "wire.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace paddock::test {

/// ZooKeeper's code (`zk_code`), or the connection's: -4 lost, -7 no answer in time.
class zk_failure : public std::runtime_error {
public:
    zk_failure(int code, const std::string& doing);
    int code() const { return code_; }

private:
    int code_;
};

/// The code of the `zk_failure` that the call ends with; `zk_code::ok` if it does not throw.
template <class Call>
int code_of(Call call) {
    try {
        call();
    } catch (const zk_failure& failure) {
        return failure.code();
    }
    return zk_code::ok;
}

struct foreigner_options {
    /// As long as the server allows, so that an idle foreigner needs no heartbeat within a test.
    std::chrono::milliseconds session_timeout{60000};
    /// The limit of every call (multiplied under sanitizers).
    std::chrono::milliseconds deadline{10000};
    /// To attach to an existing session instead of opening one.
    std::optional<credentials> session{};
};

/// The numbers are those of ZooKeeper's create flags.
enum class node_mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    persistent_sequential = 2,
    ephemeral_sequential = 3,
    container = 4,
    persistent_ttl = 5,
    persistent_sequential_ttl = 6,
};

struct acl_entry {
    /// read 1, write 2, create 4, delete 8, admin 16
    std::int32_t permissions = 31;
    std::string scheme = "world";
    std::string id = "anyone";
};

struct node_stat {
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t ctime = 0;
    std::int64_t mtime = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t aversion = 0;
    std::int64_t ephemeral_owner = 0;
    std::int32_t data_length = 0;
    std::int32_t num_children = 0;
    std::int64_t pzxid = 0;
};

struct node {
    std::string data{};
    node_stat stat;
};

/// Another program's ZooKeeper client: small, synchronous, written against the protocol itself, and
/// so independent of the code under test. Every call blocks its thread until the answer is there,
/// and throws `zk_failure` for everything but success.
///
///     foreigner other(shared_server().address());
///     other.make_path("/t1/lock");
///     auto path = other.create("/t1/lock/lock-", "", node_mode::ephemeral_sequential);
///     other.remove(path);
///
/// A foreigner that blocks the thread of a CO_TEST stalls the client under test: `wait_gone` is for
/// tests without a loop, coroutines poll `exists` with `eventually`. Not thread-safe.
class foreigner {
public:
    explicit foreigner(const std::string& address, const foreigner_options& options = {});
    foreigner(foreigner&&) noexcept;
    foreigner& operator=(foreigner&&) noexcept;
    /// Ends the session, unless `close` or `abandon` was called.
    ~foreigner();

    /// Returns the path of the created node. `ttl` is for the two TTL modes.
    std::string create(const std::string& path, const std::string& data = "",
                       node_mode mode = node_mode::persistent,
                       const std::vector<acl_entry>& acl = {acl_entry{}},
                       std::chrono::milliseconds ttl = std::chrono::milliseconds(0));
    void remove(const std::string& path, std::int32_t version = -1);
    bool exists(const std::string& path);
    /// Nothing if there is no such node.
    std::optional<node_stat> stat(const std::string& path);
    node get(const std::string& path);
    node_stat set(const std::string& path, const std::string& data, std::int32_t version = -1);
    /// Names without the path, sorted.
    std::vector<std::string> children(const std::string& path);
    void set_acl(const std::string& path, const std::vector<acl_entry>& acl);
    /// Digest authentication, as "user:password".
    void add_auth(const std::string& user_and_password);
    void sync(const std::string& path);
    void ping();

    /// Creates the node and its missing parents.
    void make_path(const std::string& path);
    /// Removes the node and everything below it; fine if there is nothing.
    void remove_all(const std::string& path);
    /// Waits with a watch; false if the node is still there after `limit`.
    bool wait_gone(const std::string& path,
                   std::chrono::milliseconds limit = std::chrono::seconds(10));

    std::int64_t session_id() const;
    credentials session() const;
    /// Ends the session: its ephemeral nodes vanish at once.
    void close();
    /// Drops the connection, and leaves the session to its timeout.
    void abandon();

private:
    struct link;
    std::unique_ptr<link> link_;
};

/// Makes the server end a session at once, as if it had expired: its ephemeral nodes vanish, its
/// connection is dropped, and its next connection learns that the session is over.
void kill_session(const std::string& address, const credentials& session);

} // namespace paddock::test
