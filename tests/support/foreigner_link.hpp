#pragma once

#include "foreigner.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <deque>

namespace paddock::test {

using deadline_point = std::chrono::steady_clock::time_point;

/// Frames over a TCP connection, sent and received synchronously but never beyond a deadline.
class frame_link {
public:
    frame_link(const std::string& address, deadline_point deadline);

    void send(const std::vector<std::uint8_t>& bytes, deadline_point deadline);
    /// The content of the next frame; throws `zk_failure`. A missed deadline does no harm to the
    /// stream: the next call goes on where this one stopped.
    std::vector<std::uint8_t> receive(deadline_point deadline);
    bool is_open() const { return socket_.is_open(); }
    void drop();

private:
    template <class Start>
    boost::system::error_code wait(Start start, deadline_point deadline, const char* doing);

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_{io_};
    std::vector<std::uint8_t> arrived_;
};

struct foreigner::link {
    explicit link(const std::string& address, const foreigner_options& options);

    deadline_point deadline() const;
    /// Sends a request and returns the body of its reply, which follows the reply's header.
    std::vector<std::uint8_t> call(std::int32_t opcode, const jute_writer& body,
                                   const std::string& doing);
    std::vector<std::uint8_t> call(std::int32_t xid, std::int32_t opcode, const jute_writer& body,
                                   const std::string& doing);
    /// Receives one frame; true if it was the event of a watch on this path.
    bool receive_event(const std::string& path, deadline_point until);

    foreigner_options options;
    frame_link frames;
    credentials session;
    std::int32_t last_xid = 0;
};

} // namespace paddock::test
