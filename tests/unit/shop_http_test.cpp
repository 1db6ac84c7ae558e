// The HTTP server of the sample `shop`, with a handler that needs no ensemble.

#include "http_server.hpp"

#include <boost/asio.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace shop;
using namespace std::chrono_literals;

namespace {

/// A server with a handler that answers "/slow" only when it is told, and a client.
struct http_stage {
    asio::io_context io;
    std::optional<asio::steady_timer> slow;
    bool cancelled = false;
    http_server server{io, {asio::ip::address_v4::loopback(), 0}, 3, [this](request asked) {
                           return handle(std::move(asked));
                       }};
    asio::ip::tcp::socket client{io};
    std::string said;

    http_stage() {
        asio::co_spawn(server.get_executor(), server.accept_until_stopped(), asio::detached);
        client.connect(server.address());
        read();
    }

    asio::awaitable<answer> handle(request asked) {
        if (asked.target() == "/slow") {
            slow.emplace(co_await asio::this_coro::executor, 1h);
            boost::system::error_code ended;
            co_await slow->async_wait(asio::redirect_error(asio::use_awaitable, ended));
            const auto state = co_await asio::this_coro::cancellation_state;
            cancelled = state.cancelled() != asio::cancellation_type::none;
        }
        answer reply{{http::status::ok, 11, std::string(asked.target())}};
        reply.head.prepare_payload();
        co_return reply;
    }

    void send(const std::string& text) { asio::write(client, asio::buffer(text)); }
    void get(const std::string& target) { send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"); }

    void read() {
        client.async_read_some(asio::buffer(part_), [this](auto failed, std::size_t size) {
            said.append(part_, size);
            failed ? static_cast<void>(closed = true) : read();
        });
    }

    template <typename Condition>
    void until(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (!condition() && std::chrono::steady_clock::now() < end)
            io.run_one_for(100ms);
        REQUIRE(condition());
    }
    bool heard(const std::string& text) const { return said.find(text) != std::string::npos; }

    bool closed = false;

private:
    char part_[4096];
};

} // namespace

TEST_CASE("a client that hangs up cancels its request") {
    http_stage s;
    s.get("/slow");
    s.until([&] { return s.slow.has_value(); });
    s.client.shutdown(asio::ip::tcp::socket::shutdown_send);
    s.until([&] { return s.closed; });
    CHECK(s.cancelled);
    CHECK(s.said.empty());
}

TEST_CASE("requests that come early are answered in order") {
    http_stage s;
    s.get("/slow");
    s.get("/second");
    s.get("/third");
    s.until([&] { return s.slow.has_value(); });
    s.slow->cancel();
    s.until([&] { return s.heard("/third"); });
    CHECK_FALSE(s.cancelled);
    CHECK(s.said.find("/slow") < s.said.find("/second"));
    CHECK(s.said.find("/second") < s.said.find("/third"));
}

TEST_CASE("the answer to HEAD has the length of the body, and none") {
    http_stage s;
    s.send("HEAD /first HTTP/1.1\r\nHost: a\r\n\r\n");
    s.get("/second");
    s.until([&] { return s.heard("\r\n\r\n/second"); });
    CHECK(s.heard("Content-Length: 6"));
    CHECK_FALSE(s.heard("/first"));
}

TEST_CASE("a client that sends far too much ahead, behind which it could not be seen, is closed") {
    http_stage s;
    s.get("/slow");
    s.until([&] { return s.slow.has_value(); });
    s.send(std::string(40'000, 'x'));
    s.until([&] { return s.closed; });
    CHECK(s.cancelled);
}

TEST_CASE("more than so many connections are closed at once") {
    http_stage s; // which allows three
    std::vector<asio::ip::tcp::socket> others;
    char nothing = 0;
    int closed = 0;
    for (int n = 0; n < 4; ++n) {
        others.emplace_back(s.io);
        others.back().connect(s.server.address());
        others.back().async_read_some(asio::buffer(&nothing, 1), [&](auto, auto) { ++closed; });
    }
    s.until([&] { return closed == 2; });
    s.get("/first");
    s.until([&] { return s.heard("\r\n\r\n/first"); });
    CHECK(closed == 2);
}

TEST_CASE("a chunk's extension, or a trailer, has an end") {
    for (const auto* const begin : {"1;a=", "0\r\n"}) {
        http_stage s;
        s.send(std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") + begin);
        s.send(std::string(100'000, 'x'));
        s.until([&] { return s.closed; });
        CHECK(s.heard("400 Bad Request"));
    }
}

TEST_CASE("a body that is too large, and what is no HTTP, is refused") {
    http_stage big;
    big.send("POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nabc");
    big.until([&] { return big.closed; });
    CHECK(big.heard("413 Payload Too Large"));
    http_stage wrong;
    wrong.send("nonsense\r\n\r\n");
    wrong.until([&] { return wrong.closed; });
    CHECK(wrong.heard("400 Bad Request"));
}

TEST_CASE("a server that stops answers what it is at, and closes the rest") {
    http_stage s;
    asio::ip::tcp::socket idle(s.io);
    idle.connect(s.server.address());
    char nothing = 0;
    bool idle_closed = false;
    idle.async_read_some(asio::buffer(&nothing, 1), [&](auto, auto) { idle_closed = true; });
    s.get("/slow");
    s.until([&] { return s.slow.has_value(); });
    auto stopped = asio::co_spawn(s.server.get_executor(), s.server.stop(100s), asio::use_future);
    s.until([&] { return idle_closed; });
    CHECK(stopped.wait_for(0s) != std::future_status::ready);
    s.slow->cancel();
    s.until([&] { return stopped.wait_for(0s) == std::future_status::ready; });
    s.until([&] { return s.closed; });
    CHECK(s.heard("\r\n\r\n/slow"));
    CHECK(s.heard("Connection: close"));
}

TEST_CASE("a client that asks first is told to go on, unless its body is too large") {
    http_stage s;
    const std::string begin = "POST /first HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n";
    s.send(begin + "Content-Length: 2\r\n\r\n");
    s.until([&] { return s.heard("HTTP/1.1 100 Continue\r\n\r\n"); });
    CHECK_FALSE(s.heard("200 OK"));
    s.send("{}");
    s.until([&] { return s.heard("\r\n\r\n/first"); });
    s.get("/second");
    s.until([&] { return s.heard("\r\n\r\n/second"); });
    http_stage big;
    big.send(begin + "Content-Length: 1000000000\r\n\r\n");
    big.until([&] { return big.closed; });
    CHECK_FALSE(big.heard("100 Continue"));
    CHECK(big.heard("413 Payload Too Large"));
}

TEST_CASE("a client of HTTP/1.0 keeps its connection if it says so") {
    http_stage s;
    s.send("GET /first HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    s.until([&] { return s.heard("\r\n\r\n/first"); });
    CHECK(s.heard("HTTP/1.0 200 OK"));
    CHECK(s.heard("Connection: keep-alive"));
    s.send("GET /second HTTP/1.0\r\n\r\n");
    s.until([&] { return s.closed; });
    CHECK(s.heard("\r\n\r\n/second"));
}
