#pragma once

#include <paddock/znode.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Credentials for ZooKeeper's digest scheme. They are given again on every connection.
struct digest_credentials {
    std::string user{};
    std::string password{};
};

/// How much of the ensemble one client may use for its locks.
struct client_budgets {
    /// Bytes of the paths of lock nodes that exist at one time. A dying session deletes all its
    /// nodes in one transaction, and one of more than 2 MiB cannot be read back by the servers
    /// (tried with 3.8.0), so more than 1 MiB is refused.
    std::size_t node_path_bytes = 1024 * 1024;
    /// Bytes of the paths that are watched at one time. After a reconnect the C client sends them
    /// in one packet, which the servers refuse above 1 MiB (ZOOKEEPER-706), so more than 512 KiB is
    /// refused.
    std::size_t watched_path_bytes = 512 * 1024;
    /// Requests and bytes of lock work that are under way at one time.
    std::size_t requests_in_flight = 256;
    std::size_t request_bytes_in_flight = 128 * 1024;
};

/// What shows that the session is alive.
enum class lease_proof {
    /// A write that changes nothing, agreed to by a quorum.
    write,
    /// A sync, which costs the ensemble much less: for huge fleets. A leader that is cut off from
    /// its followers goes on answering syncs for as long as it thinks that it leads, so while that
    /// lasts a guard may be valid although the next has been granted; `lease_options::tick_time`
    /// must be given, and keeps that short. What was lost is never revived by it.
    sync,
};

/// The lease: until when this client's session is certainly alive, and so its holds are. It is
/// renewed all the time while something is held, by a read and a proof every 4/25 of the session
/// timeout; a healthy one has more than half of the session timeout left.
struct lease_options {
    /// The ensemble's tickTime, if you know it. Zero: at most a quarter of the session timeout is
    /// assumed, which holds with ZooKeeper's default minSessionTimeout for session timeouts of four
    /// ticks or more. At most 9/20 of the session timeout.
    std::chrono::milliseconds tick_time{0};
    /// So long before the lease ends, without having been renewed, `guard::lost` and `guard::run`
    /// are told, so that the work can stop in time; guards are valid until the very end. What was
    /// told is final: these holds are not renewed any more.
    std::chrono::milliseconds margin{0};
    /// A new hold is certainly valid for so long (or as long as the ensemble's answers allow); zero
    /// stands for a quarter of the session timeout.
    std::chrono::milliseconds min_validity{0};
    lease_proof proof = lease_proof::write;
};

struct client_options {
    /// Asked of the ensemble, which may grant another (its minSessionTimeout and
    /// maxSessionTimeout). At least 100 ms.
    std::chrono::milliseconds session_timeout{10'000};
    /// Put before every path. It can also stand at the end of the server list: `a:2181,b:2181/app`.
    std::string root{};
    std::vector<digest_credentials> auth{};
    client_budgets budgets{};
    lease_options lease{};
    /// Told of trouble that no operation reports: names that do not resolve, servers that do not
    /// answer, orphans that may not be deleted. Called on the client's strand; must not block.
    std::function<void(std::string_view)> log{};
};

/// What a waiting `lock()` does when its session expires.
enum class on_expiry {
    requeue, ///< queue again, at the end, in the next session
    fail,    ///< complete with errc::session_expired
};

/// What `lock()` does when the client's budgets do not allow another node.
enum class on_over_budget {
    wait, ///< wait without a place in the queue until one is free: the exception to FIFO
    fail, ///< complete with errc::over_budget
};

/// Whose names the nodes of a mutex get. Whatever is chosen, paddock waits for the nodes of all.
enum class naming {
    /// `_c_<id>-lock-<sequence>`: respected by Curator's InterProcessMutex, and by kazoo's Lock
    /// with
    /// `extra_lock_patterns=["-lock-"]`.
    curator,
    /// `<id>__lock__<sequence>`: respected by kazoo's Lock as it is, and not by Curator.
    kazoo,
};

struct mutex_options {
    /// Several locks can share one path, each with a name of its own. The default is the name that
    /// Curator's InterProcessMutex uses. Not empty, no `/`, and none of the names that recipes
    /// reserve (`_c_`, `lock-`, `__lock__`, `__READ__`, …).
    std::string name = "lock";
    /// Another than `naming::curator` only with the name `lock`.
    paddock::naming naming = paddock::naming::curator;
    /// Of the lock's node. It must let this client read, or `verify` and `transaction` are refused.
    paddock::acl acl = open_acl();
    /// What other contenders see of this one, beside host, process and time. Valid UTF-8.
    std::string label{};
    /// Missing parents are created as containers, which ZooKeeper deletes when they are empty; with
    /// `true` as persistent nodes. kazoo (2.8) creates the parents of a lock only once and fails
    /// when they were deleted, so fleets with kazoo want `true`.
    bool persistent_parents = false;
    /// `try_lock` reads from the server at hand, which may be behind by a moment. With `true` it
    /// asks that server to catch up first, for one more round trip.
    bool sync_first = false;
    /// When somebody asks for the lock back (mutex::revoke, Curator's Revoker), the hold is over,
    /// and `guard::lost` says `errc::revoked`. Else only `guard::revoke_requested` tells.
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

/// As those of a mutex, for the same reasons.
struct shared_mutex_options {
    paddock::acl acl = open_acl();
    std::string label{};
    bool persistent_parents = false;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

struct election_options {
    /// What others see of this participant, as its node's data: Curator's LeaderLatch calls it id.
    /// Valid UTF-8, at most 16 KiB.
    std::string id{};
    paddock::acl acl = open_acl();
    bool persistent_parents = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

struct semaphore_options {
    /// Path of a node that says how many permits there are, below the client's root: Curator's
    /// SharedCount (four bytes, the highest first). All users of the semaphore must name the same.
    /// If it does not exist it is created with the number that the constructor was given; from then
    /// on the node counts. Empty: the number is fixed, and all users must give the same.
    std::string counter{};
    /// Of the nodes of the semaphore. It must let this client read.
    paddock::acl acl = open_acl();
    /// As in mutex_options.
    std::string label{};
    bool persistent_parents = false;
    bool sync_first = false; ///< for the `try_acquire` forms
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

struct simple_mutex_options {
    /// Of the lock's node and of its marker. It must let this client read.
    paddock::acl acl = open_acl();
    /// What others see of the holder, beside host, process and time. Valid UTF-8.
    std::string label{};
    /// As mutex_options::persistent_parents.
    bool persistent_parents = false;
    /// As mutex_options::sync_first.
    bool sync_first = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

} // namespace paddock
