#pragma once

#include <paddock/log.hpp>
#include <paddock/tls.hpp>
#include <paddock/znode.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

class observer;

/// Credentials for ZooKeeper's digest scheme. The client sends them again on every connection.
struct digest_credentials {
    std::string user{};
    std::string password{};
};

/// The limits of what the locks of one client may use of the ensemble.
struct client_budgets {
    /// Bytes of the paths of lock nodes that exist at one time. A dying session deletes all its
    /// nodes in one transaction, and the servers cannot read back a transaction of more than 2 MiB
    /// (tried with 3.8.0). From 1 KiB to 1 MiB, and never more than
    /// client_options::max_request_bytes allows.
    std::size_t node_path_bytes = 1024 * 1024;
    /// Bytes of the paths that the client watches at one time. A path that it watches in several
    /// ways (data, existence, children) counts as often. After a reconnect the C client sends all
    /// of them in one packet, which the servers refuse above 1 MiB (ZOOKEEPER-706). From 1 KiB to
    /// 512 KiB, and never more than client_options::max_request_bytes allows. Without room for the
    /// watch of a held node (from some 7000 holds of one client on) the client reads it four times
    /// a second instead, or less often if that would be more than 10 000 reads a second.
    std::size_t watched_path_bytes = 512 * 1024;
    /// Requests, and their bytes, that the locks have in flight at one time. The calls at one lock
    /// beyond that number have sent nothing yet: those that end before cost the ensemble nothing.
    std::size_t requests_in_flight = 256;
    std::size_t request_bytes_in_flight = 128 * 1024;
};

/// The proof that the session is alive.
enum class lease_proof {
    /// A write that changes nothing, and that a quorum has confirmed.
    write,
    /// A sync, which costs the ensemble much less: for huge fleets. A leader that is cut off from
    /// its followers continues to answer syncs for as long as it believes that it leads. During
    /// that time a guard may be valid although the ensemble has granted the lock to the next
    /// contender. `lease_options::tick_time` is required, and keeps that time short. A sync never
    /// revives a lost hold.
    sync,
};

/// The lease: the time until which this client's session, and so its holds, are certainly alive.
/// While the client holds a lock it renews the lease by a proof every 4/25 of the session timeout,
/// or `renew_every`; a healthy lease has more than half of the session timeout left (with a
/// longer `renew_every`, more than a third). Reads go along, which tell a silent server from a slow
/// leader.
struct lease_options {
    /// The ensemble's tickTime, if you know it. Zero: the client assumes at most a quarter of the
    /// session timeout, which is true with ZooKeeper's default minSessionTimeout for session
    /// timeouts of four ticks or more. At most 9/20 of the session timeout; with lease_proof::sync
    /// 3/10.
    std::chrono::milliseconds tick_time{0};
    /// How long before the end of a lease that was not renewed `guard::lost` and `guard::run`
    /// report the loss, so that the work can stop in time; guards are valid until the very end. The
    /// report is final: the client does not renew these holds any more. At most a quarter of the
    /// session timeout.
    std::chrono::milliseconds margin{0};
    /// How long a new hold is certainly valid (or as long as the ensemble's answers allow). Zero
    /// stands for a quarter of the session timeout. At most 9/20 of the session timeout.
    std::chrono::milliseconds min_validity{0};
    lease_proof proof = lease_proof::write;
    /// The time between two proofs while locks are held: longer costs the ensemble less. Zero
    /// stands for 4/25 of the session timeout. At least 1/25 of it, and at most a quarter, so that
    /// one lost answer and one reconnect cost no hold; less with a `margin` or a long `tick_time`.
    std::chrono::milliseconds renew_every{0};
};

/// The options of a client.
struct client_options {
    /// The session timeout that the client requests, from 100 ms to 24 h. The ensemble may grant
    /// another one (its minSessionTimeout and maxSessionTimeout). All servers of an ensemble must
    /// have the same limits: each reconnect negotiates again, and if the new timeout is shorter
    /// than the old one, a lease that was computed with the old one can outlive the session.
    ///
    /// A hold survives an outage of half of it, and none that lasts as long as it does.
    std::chrono::milliseconds session_timeout{10'000};
    /// The prefix of every path, at most 512 bytes. It can also stand at the end of the server
    /// list, behind all servers: `a:2181,b:2181/app`.
    ///
    /// The root must exist: connect() and the operations of locks fail with errc::no_root if it
    /// does not, so that a misspelt root is no second, separate set of locks. (Operations on nodes
    /// report `zk_errc::no_node`, as ZooKeeper does.)
    std::string root{};
    /// Creates a missing root, with persistent nodes that everybody may use. Without it a missing
    /// root is errc::no_root, also one that was a container and is gone, as ZooKeeper deletes those
    /// when they are empty.
    bool create_root = false;
    std::vector<digest_credentials> auth{};
    /// How the connections to the servers are encrypted, and whom they trust; without it they are
    /// plain. All ports in the server list must then be ones for TLS (`secureClientPort`), and a
    /// certificate must have the name, or the address, that stands in the list. Needs a shared
    /// library that was built where libzookeeper_st.a was: the constructor of another one refuses
    /// it.
    paddock::tls tls{};
    client_budgets budgets{};
    /// Bytes of one request at most, with everything that the protocol adds to path and data: the
    /// servers' `jute.maxbuffer` less a margin. A server that receives more closes the connection
    /// without a reason, so the client does not send a larger request, which fails with
    /// errc::bad_argument. If the servers have another `jute.maxbuffer`, give 1 KiB less than that
    /// here: from 256 KiB, into which every request of a lock fits, to 1 GiB.
    std::size_t max_request_bytes = 1024 * 1024 - 1024;
    lease_options lease{};
    /// Receives what no operation reports, one line each: servers that cannot be found or do not
    /// answer, and that they answer again, after how long; a session that has expired; each hold
    /// that was lost (of many at once the first three, and how many others); an event loop that
    /// stood still for so long that it cost holds; callers that wait behind their own client's
    /// hold, behind a node that no program will delete, or for room in the budgets; locks of
    /// another kind at the same path; the work of a leader that failed; missing rights.
    /// paddock/log.hpp has the codes. (A program learns the same of the connection from
    /// client::next_state, of a lock from guard::lost.)
    ///
    /// Of each code one line comes in ten seconds (about locks one for each of three); while its
    /// trouble lasts the pauses grow to a minute. The next line, or that about the end of the
    /// outage, says how many were left out. So the log says nothing of an outage that follows
    /// another within seconds: for a program's decisions take client::next_state.
    ///
    /// A function that takes a std::string_view gets the text alone. The client calls the function
    /// on its strand until close() has completed (the destructor closes in the background). The
    /// function must not block. If it throws, the client ignores the exception, and the line goes
    /// where it would go without a log.
    ///
    /// Without a function the lines go to std::clog: `paddock: `, the text, the code in brackets.
    /// That is the only write of this library that may block.
    log_function log{};
    /// Hears what the client's locks do, for metrics and traces: see paddock/observer.hpp.
    std::shared_ptr<paddock::observer> observer{};
};

/// The action of a waiting `lock()` when its session expires.
enum class on_expiry {
    requeue, ///< queue again, at the end of the queue, in the next session
    fail,    ///< complete with errc::session_expired
};

/// The action of `lock()` when the client's budgets have no room for its node now. A node that is
/// larger than the whole budget always fails at once with errc::over_budget.
enum class on_over_budget {
    wait, ///< wait without a node until there is room: the exception to FIFO
    fail, ///< complete with errc::over_budget
};

/// The longest time of a hold, for work that must not take longer, whatever happens. Each time is
/// at most a year.
struct hold_limit {
    /// The hold ends this long after the grant: the guard is not valid any more, `guard::lost`
    /// returns `errc::hold_expired`, and `guard::run` and `with` cancel the work, and release the
    /// lock once it has ended. Otherwise the lock's node stays until the guard is unlocked or
    /// destroyed, because the caller's code may still be at work. Zero: no limit.
    std::chrono::milliseconds longest{0};
    /// This long after `longest` the client releases the lock even if the guard still exists. Zero:
    /// never. Code that is still at work then works beside the next holder: only its fencing token
    /// stops it.
    std::chrono::milliseconds grace{0};
};

/// The names of a mutex's nodes. With either value paddock waits for the nodes of both kinds.
enum class naming {
    /// `_c_<id>-lock-<sequence>`: respected by Curator's InterProcessMutex, and by kazoo's Lock
    /// with `extra_lock_patterns=["-lock-"]`.
    curator,
    /// `<id>__lock__<sequence>`: respected by kazoo's Lock by default, but not by Curator.
    kazoo,
};

/// The options of a mutex or recursive_mutex.
struct mutex_options {
    /// The lock's name: several locks can share one path under different names. The default is the
    /// name that Curator's InterProcessMutex uses. Not empty, without `/`, and none of the names
    /// that recipes reserve (`_c_`, `lock-`, `__lock__`, `__READ__`, …).
    std::string name = "lock";
    /// A value other than `naming::curator` requires the name `lock`.
    paddock::naming naming = paddock::naming::curator;
    /// The access control list of the lock's node. It must allow this client to read; otherwise the
    /// ensemble refuses `verify` and `transaction`.
    paddock::acl acl = open_acl();
    /// Text that other contenders see of this one, besides host, process and time. Valid UTF-8, at
    /// most 16 KiB.
    std::string label{};
    /// The name under which client::statistics() counts the lock, instead of its path: for locks
    /// with many names that serve one purpose. UTF-8, at most 512 bytes.
    std::string group{};
    /// The client creates missing parents as containers, which ZooKeeper deletes when they are
    /// empty; with `true` it creates persistent nodes. kazoo (2.8) creates the parents of a lock
    /// only once and fails when they are deleted, so fleets with kazoo need `true`.
    bool persistent_parents = false;
    /// `try_lock` reads from the connected server, which may lag by a moment. With `true` that
    /// server first catches up with the leader, for one more round trip.
    bool sync_first = false;
    /// With `true` a request to release the lock (mutex::revoke, Curator's Revoker) ends the hold,
    /// and `guard::lost` returns `errc::revoked`. Otherwise only `guard::revoke_requested` reports
    /// the request.
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit{};

    /// **Sticky locks.** With one of the next two options, or both, a lock that a guard releases
    /// can stay with this client, which saves the requests of the next local call:
    /// `max_local_handoffs` serves many waiters of one client, `linger` one caller that comes back.
    /// All programs that use the lock should have the same options. The waiters of this client that
    /// use equal options have no nodes of their own, and are granted the lock in their order, but
    /// not in that of all processes. For a mutex and a lock_family; not for a recursive_mutex.
    /// Calls of lock_all() and enqueue() queue with nodes of their own all the same, as those of
    /// other clients do.
    ///
    /// Every grant has its own guard, and a fencing token that is larger than that of the guard
    /// before. `unlock` completes when the client has the lock back, though its node stays. The
    /// node stays only after a guard that was valid until its release, while no outcome of its
    /// transactions is unknown, the client is connected and may watch the lock's directory, and
    /// no request for the lock has come (mutex::revoke).
    ///
    /// How long others wait: a contender with a node of its own, of another client or of this one,
    /// waits for `max_local_handoffs` holds of each sticky client before it, and for the hold of
    /// the moment in which that client learns of its node. (That takes a few round trips, more if a
    /// server lags, and the lock passes on meanwhile.) 100 hand-offs of 1 ms, three such clients:
    /// 0.3 s, for their own waiters, too. A client that is stuck, killed or cut off while the lock
    /// stays with it keeps all others waiting until its session expires, as a holder does, although
    /// there is no guard.
    ///
    /// How many times a released lock passes to the next waiter of this client while another
    /// client waits. While none does, and no other call of this client waits for room in
    /// client_budgets::node_path_bytes, it passes without a limit. At most 1 000 000; zero: only
    /// while none waits, if `linger` is set.
    std::uint32_t max_local_handoffs = 0;
    /// How long a released lock stays with this client although none of its callers waits: the next
    /// lock() of the client is granted at once. Another client that queues ends that at once. One
    /// that only looks, as try_lock() without these options or of other programs does, can find the
    /// lock taken for as long as the client is busy with it: the client gives the node up every ten
    /// times this, as soon as none of its callers waits, but takes the lock again with its next
    /// call. (A try_lock() with one of these two options that finds only a sticky node before it
    /// queues for a tenth of a second, which ends the lingering; so does, at once, any try_lock()
    /// of a mutex through the same client.) Nodes that linger use at most half of each of the
    /// client_budgets, and none while another call waits for room. At most a minute; zero: off.
    std::chrono::milliseconds linger{0};
};

/// The options of a shared_mutex or recursive_shared_mutex; each has the meaning of the same
/// mutex_options member.
struct shared_mutex_options {
    paddock::acl acl = open_acl();
    std::string label{};
    std::string group{};
    bool persistent_parents = false;
    bool sync_first = false;
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit{};
};

/// The options of an election.
struct election_options {
    /// Text that others see of this participant: the data of its node, which Curator's LeaderLatch
    /// calls id. Valid UTF-8, at most 16 KiB; not `__REVOKE__`, which asks a leader to resign.
    std::string id{};
    std::string group{}; ///< as mutex_options::group
    paddock::acl acl = open_acl();
    bool persistent_parents = false;
    /// As mutex_options::revocable: with `true` a request to release (election::revoke) ends the
    /// leadership, and election::lead resigns and campaigns again, behind the others. So leadership
    /// is handed over before a program is updated.
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit{};
};

/// The options of a semaphore.
struct semaphore_options {
    /// The path of a node that contains the number of permits, below the client's root: Curator's
    /// SharedCount (four bytes, the highest first). All users of the semaphore must give the same
    /// path. If the node does not exist, the client creates it with the constructor's number; from
    /// then on the node's number counts. Empty: the number is fixed, and all users must give the
    /// same number.
    std::string counter{};
    /// The access control list of the nodes of the semaphore. It must allow this client to read.
    paddock::acl acl = open_acl();
    /// As mutex_options::label.
    std::string label{};
    std::string group{}; ///< as mutex_options::group
    bool persistent_parents = false;
    bool sync_first = false; ///< for the `try_acquire` forms
    bool revocable = false;  ///< as mutex_options::revocable
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit{};
};

/// The options of a simple_mutex.
struct simple_mutex_options {
    /// The access control list of the lock's node and of its marker. It must allow this client to
    /// read.
    paddock::acl acl = open_acl();
    /// Text that others see of the holder, besides host, process and time. Valid UTF-8, at most
    /// 16 KiB.
    std::string label{};
    /// As mutex_options::group.
    std::string group{};
    /// As mutex_options::persistent_parents.
    bool persistent_parents = false;
    /// As mutex_options::sync_first.
    bool sync_first = false;
    /// As mutex_options::revocable.
    bool revocable = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
    paddock::hold_limit hold_limit{};
};

} // namespace paddock
