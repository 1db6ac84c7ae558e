#include "link_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t piece = 16 * 1024;

asio::awaitable<void> pause(asio::any_io_executor executor, std::chrono::milliseconds time) {
    asio::steady_timer timer(executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

} // namespace

link_connection::link_connection(tcp::socket client, std::uint16_t upstream_port,
                                 std::shared_ptr<const link_orders> orders,
                                 std::shared_ptr<const renaming> names)
    : client_(std::move(client))
    , server_(client_.get_executor())
    , upstream_(upstream_port)
    , orders_(std::move(orders))
    , names_(std::move(names)) {}

void link_connection::start() {
    asio::co_spawn(
        client_.get_executor(), [self = shared_from_this()] { return self->work(); },
        asio::detached);
}

asio::awaitable<void> link_connection::work() {
    const auto self = shared_from_this();
    co_await until_light();
    error_code error;
    const tcp::endpoint upstream(asio::ip::address_v4::loopback(), upstream_);
    co_await server_.async_connect(upstream, asio::redirect_error(asio::use_awaitable, error));
    if (error || !client_.is_open()) {
        close(cut::rst);
        co_return;
    }
    client_.set_option(tcp::no_delay(true), error);
    server_.set_option(tcp::no_delay(true), error);
    asio::co_spawn(
        client_.get_executor(), [self] { return self->carry(self->server_, self->client_); },
        asio::detached);
    co_await rename();
    co_await carry(client_, server_);
}

asio::awaitable<void> link_connection::rename() {
    if (names_->message_length == 0) co_return;
    std::string message(names_->message_length, '\0');
    error_code error;
    co_await asio::async_read(client_, asio::buffer(message),
                              asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return; // carry() will find the same
    const auto at = message.find(names_->from);
    if (at != std::string::npos) message.replace(at, names_->from.size(), names_->to);
    co_await deliver({message.begin(), message.end()}, server_);
}

asio::awaitable<void> link_connection::carry(tcp::socket& from, tcp::socket& to) {
    const auto self = shared_from_this();
    error_code error;
    std::vector<char> bytes;
    while (!error) {
        bytes.resize(piece);
        const auto length = co_await from.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        bytes.resize(length);
        if (!error) co_await deliver(bytes, to);
    }
    co_await until_light();
    if (!half_ || from.is_open()) ended(error, to); // the ended half does not end the other
}

asio::awaitable<void> link_connection::deliver(const std::vector<char>& bytes, tcp::socket& to) {
    if (orders_->delay > 0ms) co_await pause(client_.get_executor(), orders_->delay);
    const auto way = static_cast<int>(&to == &server_ ? direction::up : direction::down);
    auto& carried = carried_[way];
    std::size_t done = 0;
    error_code error;
    while (done < bytes.size() && !error) {
        co_await until_light();
        if (half_) co_return;
        auto lot = bytes.size() - done;
        if (orders_->trickle != 0) {
            lot = std::min(lot, orders_->trickle);
            co_await pause(client_.get_executor(), orders_->trickle_time);
        }
        const auto end = orders_->cut_after[way];
        lot = std::min(lot, end - std::min(end, carried));
        const auto written =
            co_await asio::async_write(to, asio::buffer(bytes.data() + done, lot),
                                       asio::redirect_error(asio::use_awaitable, error));
        done += written;
        carried += written;
        if (carried >= end) co_return close(orders_->how);
    }
    if (error && !half_) close(cut::rst);
}

asio::awaitable<void> link_connection::until_light() {
    while (orders_->black_hole)
        co_await pause(client_.get_executor(), 10ms);
}

/// The end of a stream is passed on as it came.
void link_connection::ended(error_code how, tcp::socket& to) {
    if (half_ || how != asio::error::eof || ++ends_ == 2) {
        close(how == asio::error::eof ? cut::fin : cut::rst);
        return;
    }
    error_code ignored;
    to.shutdown(tcp::socket::shutdown_send, ignored);
}

void link_connection::close(cut how) {
    shut(client_, how);
    shut(server_, how);
}

void link_connection::half_open(side gone) {
    half_ = true;
    shut(gone == side::client ? client_ : server_, cut::rst);
}

void link_connection::shut(tcp::socket& socket, cut how) {
    error_code ignored;
    if (how == cut::rst)
        socket.set_option(tcp::socket::linger(true, 0), ignored);
    else
        socket.shutdown(tcp::socket::shutdown_send, ignored);
    socket.close(ignored);
}

} // namespace paddock::test
