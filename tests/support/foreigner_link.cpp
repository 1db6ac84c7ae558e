#include "foreigner_link.hpp"

#include "time_scale.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <optional>

namespace paddock::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

namespace {

tcp::endpoint parse(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) {
        throw std::invalid_argument("no port in " + address);
    }
    return {asio::ip::make_address(address.substr(0, colon)),
            static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))};
}

} // namespace

template <class Start>
error_code frame_link::wait(Start start, deadline_point deadline, const char* doing) {
    std::optional<error_code> result;
    io_.restart();
    start([&result](error_code error, auto...) { result = error; });
    io_.run_until(deadline);
    if (result) {
        return *result;
    }
    socket_.cancel();
    io_.restart();
    io_.run();
    // The operation may have been done at the last moment.
    if (result && !*result) {
        return {};
    }
    throw zk_failure(zk_code::operation_timeout, doing);
}

frame_link::frame_link(const std::string& address, deadline_point deadline) {
    const auto endpoint = parse(address);
    const auto error =
        wait([&](auto handler) { socket_.async_connect(endpoint, handler); }, deadline, "connect");
    if (error) {
        throw zk_failure(zk_code::connection_loss, "connect: " + error.message());
    }
    socket_.set_option(tcp::no_delay(true));
}

void frame_link::send(const std::vector<std::uint8_t>& bytes, deadline_point deadline) {
    if (!is_open()) {
        throw zk_failure(zk_code::connection_loss, "send after close");
    }
    const auto error =
        wait([&](auto handler) { asio::async_write(socket_, asio::buffer(bytes), handler); },
             deadline, "send");
    if (error) {
        throw zk_failure(zk_code::connection_loss, "send: " + error.message());
    }
}

std::vector<std::uint8_t> frame_link::receive(deadline_point deadline) {
    if (!is_open()) {
        throw zk_failure(zk_code::connection_loss, "receive after close");
    }
    for (;;) {
        if (arrived_.size() >= 4) {
            const auto length = static_cast<std::size_t>(jute_reader(arrived_).int32());
            if (arrived_.size() >= 4 + length) {
                const auto end = arrived_.begin() + static_cast<std::ptrdiff_t>(4 + length);
                std::vector<std::uint8_t> content(arrived_.begin() + 4, end);
                arrived_.erase(arrived_.begin(), end);
                return content;
            }
        }
        std::array<std::uint8_t, 4096> chunk;
        std::size_t size = 0;
        const auto error = wait(
            [&](auto handler) {
                socket_.async_read_some(asio::buffer(chunk),
                                        [&size, handler](error_code result, std::size_t bytes) {
                                            size = bytes;
                                            handler(result);
                                        });
            },
            deadline, "receive");
        if (error) {
            throw zk_failure(zk_code::connection_loss, "receive: " + error.message());
        }
        arrived_.insert(arrived_.end(), chunk.begin(), chunk.begin() + size);
    }
}

void frame_link::drop() {
    error_code ignored;
    socket_.close(ignored);
}

foreigner::link::link(const std::string& address, const foreigner_options& wanted)
    : options(wanted), frames(address, deadline()) {
    credentials wish = wanted.session.value_or(credentials{});
    wish.timeout = wanted.session_timeout;
    frames.send(connect_request(wish).frame(), deadline());
    session = read_credentials(jute_reader(frames.receive(deadline())));
    if (session.session_id == 0) {
        throw zk_failure(zk_code::session_expired, "connect");
    }
}

deadline_point foreigner::link::deadline() const {
    return steady_clock::now() + scaled(options.deadline);
}

std::vector<std::uint8_t> foreigner::link::call(std::int32_t opcode, const jute_writer& body,
                                                const std::string& doing) {
    return call(++last_xid, opcode, body, doing);
}

std::vector<std::uint8_t> foreigner::link::call(std::int32_t xid, std::int32_t opcode,
                                                const jute_writer& body, const std::string& doing) {
    jute_writer request;
    request.int32(xid).int32(opcode).raw(body.content());
    frames.send(request.frame(), deadline());
    const auto until = deadline();
    for (;;) {
        const auto reply = frames.receive(until);
        jute_reader reader(reply);
        if (reader.int32() != xid) {
            continue;
        } // an event, or the late reply to an earlier call
        reader.int64();
        const int code = reader.int32();
        if (code != 0) {
            throw zk_failure(code, doing);
        }
        return {reply.begin() + 16, reply.end()};
    }
}

bool foreigner::link::receive_event(const std::string& path, deadline_point until) {
    const auto content = frames.receive(until);
    jute_reader reader(content);
    if (reader.int32() != special_xid::notification) {
        return false;
    }
    reader.int64(); // zxid
    reader.int32(); // error
    reader.int32(); // type
    reader.int32(); // state
    return reader.string() == path;
}

} // namespace paddock::test
