#include "http_server.hpp"

#include <paddock/first_of.hpp>

#include <boost/beast/core.hpp>

#include <exception>
#include <utility>

namespace shop {

namespace beast = boost::beast;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

namespace {
constexpr auto idle_limit = 30s; // for a whole request to arrive, since the last answer
constexpr auto write_limit = 5s; // for an answer, or a part of a stream, to be taken
constexpr std::size_t body_limit = 64 * 1024;
constexpr std::size_t ahead_limit = 16 * 1024; // of further requests, while one is answered
} // namespace

class connection {
public:
    connection(asio::ip::tcp::socket socket, const handler& handle)
        : stream_(std::move(socket)), handle_(handle) {}

    asio::awaitable<void> serve() {
        bool open = true;
        while (open && !stopping_) {
            http::request_parser<http::string_body> parser;
            parser.body_limit(body_limit);
            error_code failed;
            stream_.expires_after(idle_limit);
            co_await http::async_read(stream_, buffer_, parser,
                                      asio::redirect_error(asio::use_awaitable, failed));
            if (failed) co_return co_await refuse(failed);
            stream_.expires_never(); // a handler has limits of its own
            waits_for_request_ = false;
            const bool keep_alive = parser.get().keep_alive();
            auto first = co_await paddock::first_of(handle_(parser.release()), until_hung_up());
            answer reply = std::move(std::get<0>(first));
            waits_for_request_ = bool(reply.more);
            open = keep_alive && !reply.more && !stopping_;
            reply.head.keep_alive(open);
            co_await write(reply.head);
            while (reply.more && !stopping_) {
                const std::string part = co_await reply.more();
                stream_.expires_after(write_limit);
                co_await asio::async_write(stream_, asio::buffer(part), asio::use_awaitable);
            }
            waits_for_request_ = true;
        }
        error_code ignored;
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    }

    /// Ends a connection that waits for a request, and any other after its answer.
    void stop() {
        stopping_ = true;
        if (waits_for_request_) stream_.close();
    }

    auto get_executor() { return stream_.get_executor(); }

private:
    asio::awaitable<void> write(http::response<http::string_body>& head) {
        stream_.expires_after(write_limit);
        co_await http::async_write(stream_, head, asio::use_awaitable);
    }

    /// Answers a request that is not read to its end, so the connection cannot be used again.
    asio::awaitable<void> refuse(error_code failed) {
        auto why = http::status::bad_request;
        if (failed == http::error::body_limit) why = http::status::payload_too_large;
        if (failed == http::error::header_limit)
            why = http::status::request_header_fields_too_large;
        const bool is_http = failed.category() == make_error_code(http::error{}).category();
        if (!is_http || failed == http::error::end_of_stream) co_return; // it has gone, or is slow
        http::response<http::string_body> head(why, 11);
        head.keep_alive(false);
        head.prepare_payload();
        co_await write(head);
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send);
        // A client that still sends would get a reset instead of the answer if this was closed now.
        stream_.expires_after(1s);
        for (;;) {
            buffer_.clear();
            const auto room = buffer_.prepare(ahead_limit);
            co_await stream_.async_read_some(room, asio::use_awaitable);
        }
    }

    /// Throws when the client has closed its side. What it sends ahead is kept for later.
    asio::awaitable<void> until_hung_up() {
        while (buffer_.size() < ahead_limit) {
            const auto room = buffer_.prepare(2048);
            buffer_.commit(co_await stream_.async_read_some(room, asio::use_awaitable));
        }
        asio::steady_timer never(stream_.get_executor(), asio::steady_timer::time_point::max());
        co_await never.async_wait(asio::use_awaitable);
    }

    beast::tcp_stream stream_;
    const handler& handle_;
    beast::flat_buffer buffer_;
    bool waits_for_request_ = true; ///< or sends a stream: nothing is lost if it is closed
    bool stopping_ = false;
};

http_server::http_server(asio::io_context& io, const asio::ip::tcp::endpoint& at, handler handle)
    : io_(io)
    , strand_(asio::make_strand(io))
    , acceptor_(strand_, at)
    , handle_(std::move(handle))
    , all_closed_(strand_, asio::steady_timer::time_point::max()) {}

asio::awaitable<void> http_server::accept_until_stopped() {
    asio::steady_timer pause(strand_);
    while (acceptor_.is_open()) {
        error_code failed;
        auto socket = co_await acceptor_.async_accept(
            asio::make_strand(io_), asio::redirect_error(asio::use_awaitable, failed));
        if (failed) { // too many open files, above all
            pause.expires_after(100ms);
            co_await pause.async_wait(asio::use_awaitable);
            continue;
        }
        const auto client = std::make_shared<connection>(std::move(socket), handle_);
        connections_.insert(client);
        const auto executor = client->get_executor();
        asio::co_spawn(executor, client->serve(),
                       asio::bind_executor(strand_, [this, client](std::exception_ptr) {
                           connections_.erase(client); // the client hung up, or was too slow
                           if (connections_.empty()) all_closed_.cancel();
                       }));
    }
}

asio::awaitable<void> http_server::stop(std::chrono::seconds limit) {
    acceptor_.close();
    for (const auto& client : connections_)
        asio::post(client->get_executor(), [client] { client->stop(); });
    if (connections_.empty()) co_return;
    all_closed_.expires_after(limit);
    error_code ignored;
    co_await all_closed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

} // namespace shop
