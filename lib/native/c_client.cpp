#include "native/c_client.hpp"

#include "native/c_lock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace paddock::native {

namespace {

/// Of 4 KiB, before others get the event loop. What the server has still sent is seldom more.
constexpr int packets_per_step = 64;
/// close() blocks its thread, so it is short; a round trip to the server fits into it. After it a
/// reset can overtake CloseSession, and the locks are free only when the session expires.
constexpr std::chrono::milliseconds max_close_wait{50};

/// Sets the C client's options per process. Without a fixed connection order it would reseed the
/// application's random numbers. Log lines other than errors would be formatted and discarded.
void set_process_globals() {
    zoo_deterministic_conn_order(1);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    // fork() takes the lock, so that no other thread holds it in the child.
    ::pthread_atfork([] { c_client_mutex.lock(); }, [] { c_client_mutex.unlock(); },
                     [] { c_client_mutex.unlock(); });
}

/// Identifies the open socket behind a descriptor number. All sockets have the same device, and
/// each has its own inode.
descriptor identify(int number) noexcept {
    struct ::stat what {};
    if (number < 0 || ::fstat(number, &what) != 0) return {};
    const auto device = static_cast<std::uint64_t>(what.st_dev);
    return {number, static_cast<std::uint64_t>(what.st_ino) ^ (device << 48)};
}

/// A corked socket sends only full packets, and data that has waited for 200 ms.
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
    owner_ = {};
    observer_ = &events;
    const inside_c lock(c_client_mutex, &errors_);
    static const bool once = (set_process_globals(), true);
    static_cast<void>(once);
    // The addresses end without a root, because the C client's own chroot has bugs.
    handle_ = zookeeper_init2(servers.c_str(), &watcher, static_cast<int>(session_timeout.count()),
                              nullptr, this, ZOO_NO_LOG_CLIENTENV, &c_error_line::write);
    if (handle_ == nullptr) return false;
    zoo_set_servers_resolution_delay(handle_, -1); // otherwise every interest() resolves the names
    return true;
}

interest_result c_client::end_session() noexcept {
    if (handle_ == nullptr) return drain_closing_socket();
    if (owner_.is_this_process() && is_connected() && socket_is_ours()) {
        flush();
        const bool written = all_written();
        flush_relay();
        if (!written) return {.connection = socket_, .events = event::writable};
        if (is_connected()) send_close_session();
        flush_relay();
    }
    free_handle();
    return drain_closing_socket();
}

/// Whether the C client has written all requests, or has found the connection lost.
bool c_client::all_written() noexcept {
    const auto connection = socket_;
    process(event::writable);
    const bool writes = is_connected() && (interest().events & event::writable) != 0;
    socket_ =
        connection; // interest() resets it on every error, though the socket may still be open
    return !writes;
}

/// Sends CloseSession itself, because zookeeper_close() blocks for up to 4.5 s after sending it.
void c_client::send_close_session() noexcept {
    constexpr std::array<unsigned char, 12> request{
        0,    0,    0,    8,    // the length of the rest
        0,    0,    0,    1,    // xid
        0xff, 0xff, 0xff, 0xf5, // type -11: CloseSession
    };
    if (::send(socket_.number, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
        static_cast<ssize_t>(request.size()))
        closing_socket_ = ::fcntl(socket_.number, F_DUPFD_CLOEXEC, 0);
    close_sent_at_ = std::chrono::steady_clock::now();
}

/// Reads and discards until the server has closed the connection.
interest_result c_client::drain_closing_socket() noexcept {
    if (closing_socket_ < 0) return {};
    std::array<char, 4096> discarded{};
    for (int packets = 0; packets < packets_per_step; ++packets) {
        const auto got = ::recv(closing_socket_, discarded.data(), discarded.size(), MSG_DONTWAIT);
        const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EINTR);
        if (nothing_yet) break;
        if (got > 0) continue;
        ::close(std::exchange(closing_socket_, -1));
        return {};
    }
    return {.connection = identify(closing_socket_), .events = event::readable};
}

/// On a connected handle zookeeper_close() sends CloseSession and waits. So its socket is replaced
/// by /dev/null first: CloseSession was sent already, or the process is a fork of the one that owns
/// the session. If even that fails in a fork, the handle leaks, which keeps the session alive.
void c_client::free_handle() noexcept {
    zhandle_t* const handle = std::exchange(handle_, nullptr);
    const bool cut_off = !socket_is_ours() || point_to_nothing(socket_.number);
    if (!cut_off && !owner_.is_this_process()) return;
    if (!cut_off) ::shutdown(socket_.number, SHUT_RDWR);
    socket_ = {};
    const inside_c lock(c_client_mutex);
    zookeeper_close(handle);
}

void c_client::close() noexcept {
    if (owner_.is_this_process()) {
        end_session();
        wait_for_server_close();
    }
    if (handle_ != nullptr) free_handle();
    if (closing_socket_ >= 0) ::close(std::exchange(closing_socket_, -1));
    relay_.reset();
    relay_connects_ = false;
}

/// A healthy server closes the connection a few milliseconds after the CloseSession. A relay does
/// not pass that on without an event loop.
void c_client::wait_for_server_close() noexcept {
    using clock = std::chrono::steady_clock;
    const auto end = close_sent_at_ + max_close_wait;
    const bool relayed = relay_ && relay_->network_descriptor() >= 0;
    for (auto now = clock::now(); closing_socket_ >= 0 && now < end; now = clock::now()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
        pollfd socket{closing_socket_, POLLIN, 0};
        if (relayed) socket = {relay_->network_descriptor(), POLLRDHUP, 0};
        ::poll(&socket, 1, static_cast<int>(left.count()));
        if (relayed && socket.revents != 0) return;
        drain_closing_socket();
    }
}

interest_result c_client::interest() {
    interest_result wanted;
    if (handle_ == nullptr) return {.rc = code::invalid_state};
    int number = -1;
    int events = 0;
    timeval timeout{};
    const bool was_connected = is_connected();
    {
        const inside_c lock(c_client_mutex, &errors_, encryption_ ? &sockets_ : nullptr);
        wanted.rc = zookeeper_interest(handle_, &number, &events, &timeout);
    }
    report_errors();
    begin_relay();
    // After an error the number is that of a closed socket, and the timeout is not set.
    const descriptor before = std::exchange(socket_, {});
    if (wanted.rc != ZOK) return wanted;
    wanted.timeout = std::chrono::milliseconds(timeout.tv_sec * 1000 + timeout.tv_usec / 1000);
    // A handle that was connected and still is has not opened another socket.
    const bool same = was_connected && is_connected() && number == before.number;
    socket_ = same ? before : identify(number);
    if (!socket_.valid()) return wanted;
    if (socket_ != before) {
        ::fcntl(number, F_SETFD, FD_CLOEXEC); // some builds of the C client do not set it
        broken_by_us_ = false;
    }
    wanted.connection = socket_;
    wanted.events = ((events & ZOOKEEPER_READ) != 0 ? event::readable : 0U) |
                    ((events & ZOOKEEPER_WRITE) != 0 ? event::writable : 0U);
    if (relay_connects_) wanted.events = event::readable;
    return wanted;
}

int c_client::process(unsigned events) {
    if (handle_ == nullptr) return code::invalid_state;
    if (relay_connects_ && !is_connected_by_relay()) return code::ok;
    const int ready = ((events & event::readable) != 0 ? ZOOKEEPER_READ : 0) |
                      ((events & event::writable) != 0 ? ZOOKEEPER_WRITE : 0);
    int rc = code::ok;
    {
        const inside_c lock(c_client_mutex, &errors_);
        rc = zookeeper_process(handle_, ready);
    }
    report_errors();
    return rc;
}

/// Does not report errors of a connection that break_connection() has broken.
void c_client::report_errors() {
    const auto line = errors_.take();
    if (line.empty() || report_relay() || broken_by_us_) return;
    observer_->on_error_line(line);
}

/// The C client sends every request at once, as two packets (length and body), each of which wakes
/// the server. Only interest() opens a socket, so while the handle is connected socket_ is its own.
/// A relay sends what it finds as one.
void c_client::cork() noexcept {
    if (corked_ || relay_ || !socket_.valid() || !is_connected()) return;
    corked_ = set_cork(socket_.number, true);
}

void c_client::flush() noexcept {
    if (relay_) return flush_relay();
    if (!std::exchange(corked_, false) || !socket_.valid()) return;
    if (is_connected()) set_cork(socket_.number, false);
}

bool c_client::is_connected() const noexcept { return zoo_state(handle_) == ZOO_CONNECTED_STATE; }

/// The C client may have closed its socket, and the process may have reused the number.
bool c_client::socket_is_ours() const noexcept {
    return socket_.valid() && identify(socket_.number) == socket_;
}

void c_client::break_connection() noexcept {
    broken_by_us_ = true;
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

std::string c_client::server() const {
    if (handle_ == nullptr) return {};
    const inside_c lock(c_client_mutex); // the text is in a buffer of the process
    const char* const found = zoo_get_current_server(handle_);
    std::string text = found != nullptr ? found : "";
    std::erase_if(text, [](char c) { return c == '[' || c == ']'; }); // the list has none
    return text;
}

/// The C client ignores a new list of the same length if it knows all IP addresses in it. So it
/// would miss a changed port, or a new server in place of a duplicate entry. A list with one
/// address that no server can have makes it forget the old list first.
int c_client::set_servers(const std::string& servers) {
    if (handle_ == nullptr) return code::invalid_state;
    const inside_c lock(c_client_mutex, &errors_);
    const int rc = zoo_set_servers(handle_, "255.255.255.255:1");
    return rc == ZOK ? zoo_set_servers(handle_, servers.c_str()) : rc;
}

std::unique_ptr<calls> make_c_client() { return std::make_unique<c_client>(); }

} // namespace paddock::native
