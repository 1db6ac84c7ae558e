#pragma once

#include "proxy_frames.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <memory>
#include <optional>

namespace paddock::test {

/// The orders of the proxy's user; belongs to the proxy's thread.
struct proxy_orders {
    struct cut_plan {
        std::size_t n = 0;
        std::ptrdiff_t bytes = 0;
        cut how = cut::fin;
    };
    struct first_held {
        std::int32_t opcode = 0;
        std::string path; ///< how it begins
    };
    struct per_direction {
        bool hold = false;
        std::chrono::milliseconds delay{0};
        std::optional<cut_plan> plan;
        std::optional<first_held> hold_from;
    };
    bool black_hole = false;
    per_direction ways[2];
    per_direction& of(direction way) { return ways[static_cast<int>(way)]; }
};

/// One client's connection through the proxy: two sockets, and a queue of frames each way.
class proxy_connection : public std::enable_shared_from_this<proxy_connection> {
public:
    using tcp = boost::asio::ip::tcp;

    proxy_connection(tcp::socket client, tcp::endpoint upstream, std::size_t number, framing how,
                     proxy_orders& orders, frame_journal& journal);

    void start();
    /// To be called whenever the orders have changed.
    void go_on();
    void release(direction way);
    void close(cut how, side which);
    bool finished() const { return !client_.is_open() && !server_.is_open(); }
    std::size_t waiting(direction way) const;

private:
    struct parcel {
        std::vector<std::uint8_t> bytes;
        frame info;
        std::size_t entry = 0;
        std::chrono::steady_clock::time_point due;
    };
    /// Frames on their way in one direction.
    struct lane {
        lane(direction way, tcp::socket& from, tcp::socket& to)
            : way(way), from(from), to(to), clock(from.get_executor()) {}
        direction way;
        tcp::socket& from;
        tcp::socket& to;
        boost::asio::steady_timer clock;
        std::deque<parcel> queue;
        bool held = false;
        bool writing = false;
        bool source_ended = false;
        bool source_broke = false;
        bool done = false;
    };
    struct batch {
        std::vector<std::uint8_t> bytes;
        std::vector<std::pair<std::size_t, std::size_t>> entries; // entry, bytes of it
        std::optional<cut> then_cut;
    };

    boost::asio::awaitable<void> connect_upstream();
    boost::asio::awaitable<void> read(lane& from);
    boost::asio::awaitable<boost::system::error_code> read_frames(lane& from);
    boost::asio::awaitable<boost::system::error_code> read_pieces(lane& from);
    void enqueue(lane& to, std::vector<std::uint8_t> bytes);
    void pump(lane& on);
    batch take_what_is_due(lane& from);
    void write(lane& on, batch what);
    void finish(lane& on);
    void shut(tcp::socket& socket, cut how);

    tcp::socket client_;
    tcp::socket server_;
    tcp::endpoint upstream_;
    framing framing_;
    proxy_orders& orders_;
    frame_journal& journal_;
    frame_reader reader_;
    lane lanes_[2];
    bool connecting_ = false;
    bool connected_ = false;
    bool reported_ = false;
};

} // namespace paddock::test
