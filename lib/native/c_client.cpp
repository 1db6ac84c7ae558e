#include "native/c_client.hpp"

#include "native/c_lock.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utility>

namespace paddock::native {

namespace {

void swallow(const char*) {}

/// What the C client keeps per process. Without a fixed order it would reseed the application's
/// random numbers; its log would be formatted only to be swallowed.
void set_process_globals() {
    zoo_deterministic_conn_order(1);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
}

/// Which open socket a number stands for, now. Sockets have one device, and an inode each.
descriptor identify(int number) noexcept {
    struct ::stat what {};
    if (number < 0 || ::fstat(number, &what) != 0) return {};
    const auto device = static_cast<std::uint64_t>(what.st_dev);
    return {number, static_cast<std::uint64_t>(what.st_ino) ^ (device << 48)};
}

/// While corked, TCP sends full packets only (and what has waited for 200 ms).
bool set_cork(int number, bool on) noexcept {
    const int value = on ? 1 : 0;
    return ::setsockopt(number, IPPROTO_TCP, TCP_CORK, &value, sizeof value) == 0;
}

} // namespace

void c_client::watcher(zhandle_t*, int type, int state, const char* path, void* self) noexcept {
    const outside_c without_lock;
    observer& events = *static_cast<c_client*>(self)->observer_;
    if (type == ZOO_SESSION_EVENT)
        events.on_session_event(state);
    else
        events.on_watch(static_cast<watch_type>(type), path != nullptr ? path : "");
}

bool c_client::open(const std::string& servers, std::chrono::milliseconds session_timeout,
                    observer& events) {
    close();
    observer_ = &events;
    const inside_c lock(c_client_mutex);
    static const bool once = (set_process_globals(), true);
    static_cast<void>(once);
    // No root behind the addresses: the C client's own chroot has bugs that ours has not.
    handle_ = zookeeper_init2(servers.c_str(), &watcher, static_cast<int>(session_timeout.count()),
                              nullptr, this, ZOO_NO_LOG_CLIENTENV, &swallow);
    if (handle_ == nullptr) return false;
    zoo_set_servers_resolution_delay(handle_, -1); // else it resolves at every interest()
    return true;
}

/// zookeeper_close() waits up to 4.5 s for a peer that does not answer. So what can be sent is sent
/// without waiting; if there is still something left the connection is given up, and otherwise
/// nothing more is read, which ends the wait for an answer at once.
void c_client::close() noexcept {
    zhandle_t* const handle = handle_;
    if (handle == nullptr) return;
    const inside_c lock(c_client_mutex);
    if (is_connected()) zookeeper_process(handle, ZOOKEEPER_WRITE);
    if (is_connected() && socket_is_ours()) {
        pollfd socket{socket_.number, POLLOUT, 0};
        const bool sendable = ::poll(&socket, 1, 0) == 1 && (socket.revents & POLLOUT) != 0;
        ::shutdown(socket_.number, sendable ? SHUT_RD : SHUT_RDWR);
    }
    socket_ = {};
    handle_ = nullptr;
    zookeeper_close(handle);
}

wish c_client::interest() {
    wish wanted;
    if (handle_ == nullptr) return {.rc = code::invalid_state};
    int number = -1;
    int events = 0;
    timeval timeout{};
    const bool was_connected = is_connected();
    {
        const inside_c lock(c_client_mutex);
        wanted.rc = zookeeper_interest(handle_, &number, &events, &timeout);
    }
    // After an error the number is that of a closed socket, and the timeout means nothing.
    const descriptor before = std::exchange(socket_, {});
    if (wanted.rc != ZOK) return wanted;
    wanted.timeout = std::chrono::milliseconds(timeout.tv_sec * 1000 + timeout.tv_usec / 1000);
    // A handle that was connected and still is has not opened another socket.
    const bool same = was_connected && is_connected() && number == before.number;
    socket_ = same ? before : identify(number);
    if (!socket_.valid()) return wanted;
    if (socket_ != before) ::fcntl(number, F_SETFD, FD_CLOEXEC); // some builds forget it
    wanted.connection = socket_;
    wanted.events = ((events & ZOOKEEPER_READ) != 0 ? event::readable : 0U) |
                    ((events & ZOOKEEPER_WRITE) != 0 ? event::writable : 0U);
    return wanted;
}

int c_client::process(unsigned events) {
    if (handle_ == nullptr) return code::invalid_state;
    const inside_c lock(c_client_mutex);
    return zookeeper_process(handle_, ((events & event::readable) != 0 ? ZOOKEEPER_READ : 0) |
                                          ((events & event::writable) != 0 ? ZOOKEEPER_WRITE : 0));
}

/// The C client sends every request at once, its length and its body one by one: two packets, each
/// of which wakes the server. Only interest() opens a socket, so while the handle is connected the
/// number is still that of its socket.
void c_client::hold_back() noexcept {
    if (held_back_ || !socket_.valid() || !is_connected()) return;
    held_back_ = set_cork(socket_.number, true);
}

void c_client::flush() noexcept {
    if (!std::exchange(held_back_, false) || !socket_.valid()) return;
    if (is_connected()) set_cork(socket_.number, false);
}

bool c_client::is_connected() const noexcept { return zoo_state(handle_) == ZOO_CONNECTED_STATE; }

/// The C client may have closed its socket, and the number may be somebody else's by now.
bool c_client::socket_is_ours() const noexcept {
    return socket_.valid() && identify(socket_.number) == socket_;
}

void c_client::break_connection() noexcept {
    if (socket_is_ours()) ::shutdown(socket_.number, SHUT_RDWR);
}

int c_client::state() const noexcept {
    return handle_ != nullptr ? zoo_state(handle_) : state::not_connected;
}

std::int64_t c_client::session_id() const noexcept {
    return handle_ != nullptr ? zoo_client_id(handle_)->client_id : 0;
}

std::chrono::milliseconds c_client::session_timeout() const noexcept {
    return std::chrono::milliseconds(handle_ != nullptr ? zoo_recv_timeout(handle_) : 0);
}

/// The C client ignores a list of as many entries whose IPs it knows: a port that has changed, or a
/// new server in the place of an entry that was there twice. A list of one address that is nobody's
/// makes it forget the old ones first.
int c_client::set_servers(const std::string& servers) {
    if (handle_ == nullptr) return code::invalid_state;
    const inside_c lock(c_client_mutex);
    const int forgotten = zoo_set_servers(handle_, "255.255.255.255:1");
    return forgotten == ZOK ? zoo_set_servers(handle_, servers.c_str()) : forgotten;
}

std::unique_ptr<calls> make_c_client() { return std::make_unique<c_client>(); }

} // namespace paddock::native
