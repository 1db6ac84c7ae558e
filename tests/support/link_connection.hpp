#pragma once

#include "links.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace paddock::test {

/// One connection over a link: two sockets, and two coroutines that carry bytes between them. It
/// lives as long as one of these.
class link_connection : public std::enable_shared_from_this<link_connection> {
public:
    using tcp = boost::asio::ip::tcp;

    link_connection(tcp::socket client, std::uint16_t upstream_port,
                    std::shared_ptr<const link_orders> orders,
                    std::shared_ptr<const renaming> names);

    void start();
    void close(cut how);
    void half_open(side gone);
    bool is_half() const { return half_; }

private:
    boost::asio::awaitable<void> work();
    boost::asio::awaitable<void> rename();
    boost::asio::awaitable<void> carry(tcp::socket& from, tcp::socket& to);
    boost::asio::awaitable<void> deliver(const std::vector<char>& bytes, tcp::socket& to);
    boost::asio::awaitable<void> until_light();
    void ended(boost::system::error_code how, tcp::socket& to);
    static void shut(tcp::socket& socket, cut how);

    tcp::socket client_;
    tcp::socket server_;
    std::uint16_t upstream_;
    std::shared_ptr<const link_orders> orders_;
    std::shared_ptr<const renaming> names_;
    bool half_ = false;
    int ends_ = 0;
    std::size_t carried_[2] = {0, 0}; ///< bytes of each direction
};

} // namespace paddock::test
