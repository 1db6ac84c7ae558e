// HTTP for handlers that are coroutines: one strand for each connection, limits for slow and greedy
// clients, and an end that waits for the answers.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace shop {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using request = http::request<http::string_body>;

struct answer {
    http::response<http::string_body> head;
    /// If set, what it returns is sent, again and again, until the client or the server has gone.
    std::function<asio::awaitable<std::string>()> more;
};

/// Runs on the strand of its connection. It is cancelled when the client hangs up; it throws
/// nothing else.
using handler = std::function<asio::awaitable<answer>(request)>;

class connection;

/// Its methods may be called before the context runs, or on its strand.
class http_server {
public:
    http_server(asio::io_context& io, const asio::ip::tcp::endpoint& at, handler handle);

    asio::ip::tcp::endpoint address() const { return acceptor_.local_endpoint(); }
    asio::awaitable<void> accept_until_stopped();
    /// Accepts no more, and waits until all requests are answered, for at most `limit`.
    asio::awaitable<void> stop(std::chrono::seconds limit);

    const asio::strand<asio::io_context::executor_type>& strand() const { return strand_; }

private:
    asio::io_context& io_;
    asio::strand<asio::io_context::executor_type> strand_;
    asio::ip::tcp::acceptor acceptor_;
    handler handle_;
    std::set<std::shared_ptr<connection>> connections_;
    asio::steady_timer all_closed_;
};

} // namespace shop
