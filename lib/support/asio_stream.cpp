#include "support/asio_parts.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <fcntl.h>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using io_socket = asio::basic_stream_socket<tcp, io_strand>;

bool would_block(const error_code& error) noexcept {
    return error == asio::error::would_block || error == asio::error::try_again;
}

/// Outlives the stream while a wait is in flight. Asio only waits; the bytes are taken and written
/// in the handlers, because in a forked child, after notify_fork, a pending read of Asio's own
/// would take bytes that belong to the parent.
struct stream_state : std::enable_shared_from_this<stream_state> {
    stream_state(const io_strand& strand, std::weak_ptr<const bool> of)
        : socket(strand), environment_lives(std::move(of)) {}

    bool usable() const noexcept {
        return open && made_in.is_this_process() && !environment_lives.expired();
    }

    /// Never from within the call.
    void report(stream::done call, error_code error) {
        asio::post(socket.get_executor(),
                   [self = shared_from_this(), call = std::move(call), error]() mutable {
                       if (self->usable()) call(error);
                   });
    }

    void connect(const std::string& to, std::uint16_t port, stream::done connected) {
        error_code error;
        const auto address = asio::ip::make_address(to, error);
        const tcp::endpoint peer(address, port);
        if (!error) socket.open(peer.protocol(), error);
        // Programs that this one starts would keep the connection.
        if (!error) ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        if (!error) socket.non_blocking(true, error);
        if (!error) socket.set_option(tcp::no_delay(true), error);
        if (!error) socket.set_option(io_socket::keep_alive(true), error);
        if (error) return report(std::move(connected), error);
        socket.async_connect(
            peer, [self = shared_from_this(), call = std::move(connected)](error_code e) mutable {
                if (self->usable()) call(e);
            });
    }

    /// A look at the next byte is a cheaper wait than Asio's own, which begins with a change to the
    /// epoll set, and with an event for a socket that can be written.
    void read(stream::received call) {
        socket.async_receive(
            asio::buffer(first), io_socket::message_peek,
            [self = shared_from_this(), call = std::move(call)](error_code error, auto) mutable {
                if (self->usable()) self->take(std::move(call), error);
            });
    }

    void take(stream::received call, error_code error) {
        std::size_t size = 0;
        if (!error) size = socket.read_some(asio::buffer(inbound), error);
        if (would_block(error)) return read(std::move(call));
        call(error, {inbound.data(), size});
    }

    /// Most writes fit into the socket's buffer, and need no wait.
    error_code write_what_fits() {
        error_code error;
        while (!error && written < outbound.size())
            written += socket.write_some(asio::buffer(outbound) + written, error);
        if (!error) outbound = {};
        return error;
    }

    void write_rest(stream::done call) {
        socket.async_wait(
            io_socket::wait_write,
            [self = shared_from_this(), call = std::move(call)](error_code error) mutable {
                if (!self->usable()) return;
                if (!error) error = self->write_what_fits();
                if (would_block(error)) return self->write_rest(std::move(call));
                call(error);
            });
    }

    bool write(std::string bytes, stream::done call) {
        outbound = std::move(bytes);
        written = 0;
        const auto error = write_what_fits();
        if (would_block(error))
            write_rest(std::move(call));
        else if (error)
            report(std::move(call), error);
        return !error;
    }

    io_socket socket;
    std::weak_ptr<const bool> environment_lives;
    const process_stamp made_in;
    bool open = true;
    std::array<char, 1> first{};
    /// Some two hundred replies of Redis at once; each connection has one.
    std::array<char, 16 * 1024> inbound{};
    std::string outbound;
    std::size_t written = 0;
};

class asio_stream final : public tcp_stream {
public:
    asio_stream(const io_strand& strand, std::weak_ptr<const bool> environment)
        : core_(std::make_shared<stream_state>(strand, std::move(environment))) {}
    ~asio_stream() override { close(); }

    void connect(const std::string& address, std::uint16_t port, done connected) override {
        if (core_->usable()) core_->connect(address, port, std::move(connected));
    }
    int descriptor() noexcept override {
        return core_->usable() && core_->socket.is_open() ? core_->socket.native_handle() : -1;
    }
    void read_some(received call) override {
        if (core_->usable()) core_->read(std::move(call));
    }
    bool write(std::string bytes, done written) override {
        return core_->usable() && core_->write(std::move(bytes), std::move(written));
    }

    /// Asio closes a socket of its own without a change to its epoll set, which a forked child
    /// shares with its parent; the connection stays open while the parent has it.
    void close() noexcept override {
        core_->open = false;
        error_code ignored;
        core_->socket.close(ignored);
    }
    /// Not for the parent's connection in a forked child: the option is of both.
    void abort() noexcept override {
        error_code ignored;
        if (core_->usable()) core_->socket.set_option(io_socket::linger(true, 0), ignored);
        close();
    }

private:
    std::shared_ptr<stream_state> core_;
};

} // namespace

std::unique_ptr<tcp_stream> make_asio_stream(const io_strand& strand,
                                             std::weak_ptr<const bool> environment) {
    return std::make_unique<asio_stream>(strand, std::move(environment));
}

} // namespace paddock
