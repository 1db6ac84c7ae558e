#pragma once

#include "ports.hpp"
#include "proxy.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace paddock::test {

class link_connection;

/// The present faults of a link.
struct link_orders {
    bool black_hole = false;
    std::chrono::milliseconds delay{0};
    std::size_t trickle = 0; ///< bytes at a time; 0: as many as there are
    std::chrono::milliseconds trickle_time{1};
    std::size_t cut_after[2] = {unlimited, unlimited}; ///< bytes, of each direction
    cut how = cut::fin;
    static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);
};

/// In the first message of every connection one text takes the place of another of equal length.
struct renaming {
    std::string from{};
    std::string to{};
    std::size_t message_length = 0;
};

/// A TCP link on the loopback interface that does not parse its bytes, and can fail in every way in
/// which a network does. Belongs to a `link_room`. All methods are thread-safe, and have taken
/// effect when they return.
class tcp_link {
public:
    tcp_link(boost::asio::io_context& io, std::uint16_t upstream_port, renaming names);
    ~tcp_link();

    std::uint16_t port() const { return port_.number(); }
    /// "127.0.0.1:port"
    std::string address() const;

    /// Ends all connections.
    void cut_all(cut how);
    /// Resets this half of each connection; the other half gets no sign of it, and its bytes are
    /// discarded.
    void half_open(side gone);
    /// While on, new connections are refused. Existing ones live on.
    void refuse(bool on);
    /// New connections lead to this port of the loopback interface.
    void lead_to(std::uint16_t upstream_port);
    /// While on, the link carries nothing, not even the ends of connections; then it goes on.
    void black_hole(bool on);
    /// Delays every piece by so much.
    void delay(std::chrono::milliseconds amount);
    /// At most so many bytes are carried in such a time, each lot by itself.
    void trickle(std::size_t bytes, std::chrono::milliseconds each = std::chrono::milliseconds(1));
    /// Each connection ends when it has carried so many bytes in this direction; when it should
    /// carry the first, if they are 0.
    void cut_after(direction way, std::size_t bytes, cut how = cut::fin);
    /// Ends all lasting faults; the living half of a connection is ended now.
    void heal();

private:
    template <class Function>
    auto run(Function function);
    void listen();
    void accept();

    boost::asio::io_context& io_;
    reserved_port port_;
    std::uint16_t upstream_;
    std::shared_ptr<const renaming> names_;
    std::shared_ptr<link_orders> orders_ = std::make_shared<link_orders>();
    boost::asio::ip::tcp::acceptor acceptor_;
    std::vector<std::weak_ptr<link_connection>> connections_;
};

/// Links, and the one thread on which all of them work.
class link_room {
public:
    link_room();
    link_room(const link_room&) = delete;
    link_room& operator=(const link_room&) = delete;
    ~link_room();

    /// Lives as long as the room.
    tcp_link& add(std::uint16_t upstream_port, renaming names = {});

private:
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::vector<std::unique_ptr<tcp_link>> links_;
    std::thread thread_;
};

} // namespace paddock::test
