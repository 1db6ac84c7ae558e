#pragma once

#include "wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test {

/// up: from the client to the server; down: from the server to the client.
enum class direction { up, down };
/// How a connection ends: orderly, or with a reset.
enum class cut { fin, rst };
/// Which of the two TCP connections that make up a proxied one.
enum class side { both, client, server };
/// What the proxy passes on at a time: a message, or whatever has come, which it does not read.
enum class framing { zookeeper, none };

/// One ZooKeeper message that reached the proxy.
struct frame {
    direction way = direction::up;
    /// The request's number, or one of `special_xid`; 0 for the two messages of the handshake.
    std::int32_t xid = 0;
    /// See `opcode`. A reply has that of its request, the handshake `create_session`.
    std::int32_t opcode = 0;
    /// Replies only.
    std::int64_t zxid = 0;
    std::int32_t error = 0;
    /// Of a request about one path, of its reply, and of a watch event; else empty.
    std::string path;
    /// Bytes on the wire, the length in front included.
    std::size_t size = 0;
    /// How many of them have been passed on; may be known a moment after the receiver has them.
    std::size_t forwarded = 0;
    /// The proxy's connections are numbered from 1 in the order in which they were accepted.
    std::size_t connection = 0;
    std::chrono::steady_clock::time_point when;
    /// Of paddock's lease or pump: a read or check of ZooKeeper's own node.
    bool heartbeat = false;

    /// Pings, heartbeats and the handshake come at any time, so counts leave them out.
    bool counts() const {
        return opcode != opcode::ping && opcode != opcode::create_session && !heartbeat;
    }
};

struct proxy_snapshot {
    /// In the order of their arrival.
    std::vector<frame> frames;
    std::size_t accepted = 0;
    std::size_t open = 0;
    /// Connections ended by `cut_all` or `cut_at`.
    std::size_t cuts = 0;

    std::size_t count_if(const std::function<bool(const frame&)>& wanted) const;
    /// Without pings and handshakes.
    std::size_t count(direction way) const;
    std::size_t count(direction way, std::int32_t operation) const;
};

/// A TCP proxy on the loopback interface that understands ZooKeeper's messages well enough to break
/// a connection anywhere. It forwards frame by frame, on a thread of its own. Of what it must not
/// read, such as TLS, each piece is a frame that counts, and has no properties but its size.
///
///     fault_proxy proxy(shared_server().port());
///     client c(executor, proxy.address());
///     proxy.cut_at(direction::down, 0, 7); // the next reply is torn after 7 bytes
///
/// All methods are thread-safe, and have taken effect when they return. In a coroutine test wait
/// with `eventually` and `snapshot` or `count`: `wait_for` blocks the thread.
class fault_proxy {
public:
    explicit fault_proxy(std::uint16_t upstream_port, framing how = framing::zookeeper);
    ~fault_proxy();

    std::uint16_t port() const;
    /// "127.0.0.1:port"
    std::string address() const;

    // --- faults ---

    /// Ends all connections. With `side::client` the server keeps its half until everything that
    /// the client had sent, held back or not, has reached it (and the other way round).
    void cut_all(cut how, side which = side::both);

    /// When the n-th frame from now on (counted from 0 over all connections, without pings and
    /// handshakes) is about to be forwarded in this direction, only its first `bytes` bytes are
    /// (0: none; -1: the whole frame), and the connection is cut both ways. Happens once, and
    /// replaces the plan made before for this direction.
    void cut_at(direction way, std::size_t n, std::ptrdiff_t bytes, cut how = cut::fin);
    /// Cancels the plans of `cut_at` and `hold_from`.
    void forget_plans();

    /// While on, connections are accepted but nothing at all is forwarded, not even their ends.
    /// Afterwards everything goes on where it stopped.
    void black_hole(bool on);

    /// While on, new connections are refused. Existing ones live on.
    void refuse(bool on);

    /// From now on holds every frame of this direction on any connection.
    void hold(direction way);
    /// The same from the first frame of such a request on, for a path that begins so, on the
    /// connection of that frame only. Happens once.
    void hold_from(direction way, std::int32_t opcode, std::string path = {});
    /// Ends both kinds of holding; all held frames go out in one burst.
    void release(direction way);

    /// Delays every later frame of this direction by so much. 0 = no delay.
    void delay(direction way, std::chrono::milliseconds amount);

    // --- observations ---

    proxy_snapshot snapshot() const;
    std::size_t count(direction way) const;
    std::size_t count(direction way, std::int32_t operation) const;
    std::size_t accepted() const;
    std::size_t open() const;
    std::size_t cuts() const;
    /// How many frames wait in this direction because they are held, delayed or black-holed.
    std::size_t waiting(direction way) const;
    /// Blocks until the predicate is true; false when it is not in time (longer under sanitizers).
    bool wait_for(const std::function<bool(const proxy_snapshot&)>& predicate,
                  std::chrono::milliseconds limit = std::chrono::seconds(10)) const;
    /// Empties the list of frames, so that counts start at zero.
    void forget_frames();
    /// From the last handshake that succeeded; a session id of 0 if there was none.
    credentials last_credentials() const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

} // namespace paddock::test
