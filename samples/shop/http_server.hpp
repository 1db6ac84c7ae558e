// HTTP for handlers that are coroutines: one strand for each connection, limits for slow and greedy
// clients, and an end that waits for the answers.
#pragma once

#include <paddock/first_of.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace shop {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using boost::system::system_error;
using request = http::request<http::string_body>;

struct answer {
    http::response<http::string_body> head;
    /// If set, what it returns is sent, again and again, until the client or the server has gone.
    std::function<asio::awaitable<std::string>()> more{};
};

/// Runs on the strand of its connection. When the client hangs up it is cancelled, and then throws;
/// every other error is an answer: what it throws only ends the connection.
using handler = std::function<asio::awaitable<answer>(request)>;

class connection {
public:
    connection(asio::ip::tcp::socket socket, const handler& handle)
        : stream_(std::move(socket)), handle_(handle) {}

    auto get_executor() { return stream_.get_executor(); }

    asio::awaitable<void> serve() {
        for (bool open = true; open;) {
            http::request_parser<http::string_body> parser;
            parser.body_limit(64 * 1024);
            error_code failed;
            stream_.expires_after(std::chrono::seconds(30)); // for a whole request to arrive
            auto with_error = asio::redirect_error(asio::use_awaitable, failed);
            co_await http::async_read_header(stream_, buffer_, parser, with_error);
            if (!failed && boost::beast::iequals(parser.get()[http::field::expect], "100-continue"))
                co_await asio::async_write(stream_, go_on, with_error);
            if (!failed) co_await http::async_read(stream_, buffer_, parser, with_error);
            if (failed) co_return co_await refuse(failed);
            stream_.expires_never(); // a handler has limits of its own
            is_handling_ = true;
            const request asked = parser.release();
            const bool only_head = asked.method() == http::verb::head;
            auto first = co_await paddock::first_of(handle_(asked), until_hung_up());
            answer& reply = std::get<0>(first);
            if (only_head) reply.head.body().clear(); // its length stays that of the body
            open = asked.keep_alive() && !reply.more && !stopping_;
            reply.head.version(asked.version()); // 1.0 keeps alive in its own way
            reply.head.keep_alive(open);
            co_await write(reply.head);
            is_handling_ = false;
            while (reply.more && !only_head && !stopping_) {
                const std::string part = co_await reply.more();
                stream_.expires_after(write_limit);
                co_await asio::async_write(stream_, asio::buffer(part), asio::use_awaitable);
            }
        }
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send);
    }

    /// Ends a connection that waits for a request or sends a stream, any other after its answer.
    void stop() {
        stopping_ = true;
        if (!is_handling_) stream_.close();
    }

private:
    inline static const auto go_on = asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25);
    static constexpr std::chrono::seconds write_limit{5};
    static constexpr std::size_t most_ahead = 16 * 1024; // of the requests that come too early

    asio::awaitable<void> write(http::response<http::string_body>& head) {
        stream_.expires_after(write_limit);
        co_await http::async_write(stream_, head, asio::use_awaitable);
    }

    /// Answers a request that is not read to its end, so the connection cannot be used again.
    asio::awaitable<void> refuse(error_code failed) {
        const bool is_http = failed.category() == make_error_code(http::error{}).category();
        if (!is_http || failed == http::error::end_of_stream) co_return; // it has gone, or is slow
        http::response<http::string_body> head(http::status::bad_request, 11);
        if (failed == http::error::body_limit) head.result(http::status::payload_too_large);
        head.keep_alive(false);
        head.prepare_payload();
        co_await write(head);
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send);
        // To close now would reset what a client that still sends has not read.
        stream_.expires_after(std::chrono::seconds(1));
        buffer_.clear();
        for (int n = 0; n < 64; ++n) // who never pauses would never be too late
            co_await stream_.async_read_some(buffer_.prepare(most_ahead), asio::use_awaitable);
    }

    /// Throws when the client has closed its side (also only for writing), or sends far too much
    /// ahead, behind which it could not be seen. What it sends ahead is kept for later.
    asio::awaitable<void> until_hung_up() {
        while (buffer_.size() < most_ahead) {
            const auto room = buffer_.prepare(2048);
            buffer_.commit(co_await stream_.async_read_some(room, asio::use_awaitable));
        }
        throw system_error(http::error::buffer_overflow);
    }

    boost::beast::tcp_stream stream_;
    const handler& handle_;
    boost::beast::flat_buffer buffer_{64 * 1024}; // at most
    bool is_handling_ = false;
    bool stopping_ = false;
};

/// Its methods may be called before the context runs, or on its strand.
class http_server {
public:
    using executor_type = asio::strand<asio::io_context::executor_type>;

    http_server(asio::io_context& io, const asio::ip::tcp::endpoint& at, std::size_t most,
                handler handle)
        : io_(io), most_(most), acceptor_(strand_, at), handle_(std::move(handle)) {}

    executor_type get_executor() const { return strand_; }
    asio::ip::tcp::endpoint address() const { return acceptor_.local_endpoint(); }

    asio::awaitable<void> accept_until_stopped() {
        asio::steady_timer pause(strand_);
        for (;;) {
            error_code failed;
            auto socket = co_await acceptor_.async_accept(
                asio::make_strand(io_), asio::redirect_error(asio::use_awaitable, failed));
            if (!acceptor_.is_open()) co_return;          // and drops who came just now
            if (failed || connections_.size() >= most_) { // too many; and drops who came
                pause.expires_after(std::chrono::milliseconds(100));
                co_await pause.async_wait(asio::use_awaitable);
                continue;
            }
            const auto client = std::make_shared<connection>(std::move(socket), handle_);
            connections_.insert(client);
            auto ended = [this, client](std::exception_ptr) { // it hung up, or was too slow
                connections_.erase(client);
                if (connections_.empty()) all_closed_.cancel();
            };
            asio::co_spawn(client->get_executor(), client->serve(),
                           asio::bind_executor(strand_, std::move(ended)));
        }
    }

    /// Accepts no more, and waits until all requests are answered, for at most `limit`.
    asio::awaitable<void> stop(std::chrono::seconds limit) {
        acceptor_.close();
        for (const auto& client : connections_)
            asio::post(client->get_executor(), [client] { client->stop(); });
        if (connections_.empty()) co_return;
        all_closed_.expires_after(limit);
        error_code ignored;
        co_await all_closed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }

private:
    asio::io_context& io_;
    const std::size_t most_; ///< connections, so that files are left for everything else
    const executor_type strand_ = asio::make_strand(io_);
    asio::ip::tcp::acceptor acceptor_;
    const handler handle_;
    std::set<std::shared_ptr<connection>> connections_;
    asio::steady_timer all_closed_{strand_};
};

} // namespace shop
