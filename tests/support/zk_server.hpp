#pragma once

#include "certificates.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

struct zk_server_options {
    /// Session timeouts that clients get lie between the two limits, and sessions expire at ticks.
    std::chrono::milliseconds tick_time{500};
    std::chrono::milliseconds min_session_timeout{400};
    std::chrono::milliseconds max_session_timeout{60000};
    /// How often the server removes empty containers and TTL nodes that are due.
    std::chrono::milliseconds container_check_interval{60000};
    /// Per client address; 0 = unlimited.
    int max_client_connections = 0;
    /// Without it the server refuses TTL nodes.
    bool extended_types = true;
    /// More lines for the configuration file, such as "globalOutstandingLimit=10".
    std::vector<std::string> config{};
    /// More arguments for the JVM, such as "-Djute.maxbuffer=4096".
    std::vector<std::string> java{};
    /// The number of an ensemble's member (zk_ensemble.hpp), whose servers are in `config`. A
    /// member answers only with a quorum, so start() does not wait for it. 0: standalone.
    int id = 0;
    /// It speaks TLS to clients: 1.2 unless told otherwise, which is Debian's default.
    std::optional<tls_of_server> tls{};
};

/// A private standalone ZooKeeper server: a child process that listens only on the loopback
/// interface, with its data in a temporary folder. It dies with this object, and with this process.
///
///     zk_server server;
///     client c(executor, server.address());
///     server.kill();
///     server.start(); // same port, same data
///
/// Not thread-safe. Create and start servers on a thread that outlives them (doctest runs every
/// test case, and CO_TEST every coroutine, on the main thread).
class zk_server {
public:
    /// Returns when the server answers (see `id`); throws with the end of its log when it does not.
    explicit zk_server(zk_server_options options = {});
    ~zk_server();

    std::uint16_t port() const;
    /// "127.0.0.1:port"
    std::string address() const;
    /// Of a server that speaks TLS: where a foreigner may ask it in plain. Else the same as the two
    /// above.
    std::uint16_t plain_port() const;
    std::string plain_address() const;
    /// The port of its HTTP interface; see admin.hpp.
    std::uint16_t admin_port() const;

    /// Ends the process in an orderly way.
    void stop();
    /// Ends the process like a power cut. Data that it has acknowledged is kept.
    void kill();
    /// Starts it again on the same port and data, and waits until it answers (see `id`). If it is
    /// paused, it goes on.
    void start();
    /// While it is stopped: as if its disk had been replaced.
    void lose_data();
    /// While it is stopped: copies its data; makes the copy its data again.
    void back_up();
    void restore_backup();
    bool running() const;
    /// Whether it answers. Blocks for a while when it is paused.
    bool answers() const;

    /// A paused server keeps its connections and its port, but does not run.
    void pause();
    void resume();

    /// What the server answers to a four letter command, such as "srvr", "mntr" or "cons".
    std::string ask(const std::string& command) const;
    /// The last lines of its log.
    std::string log_tail() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// The one server that the test cases of an executable share: started by the first call, ended when
/// the process exits. A test that stops, pauses or kills a server needs its own; in a coroutine
/// test a static one, started at the beginning, because the test may run more than once.
zk_server& shared_server();

/// A path that no other test case of this process uses, such as "/t17". The node is not created.
std::string fresh_root();

} // namespace paddock::test
