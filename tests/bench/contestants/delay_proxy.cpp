// Passes connections on, and each byte a little later, so that a round trip takes longer by the
// given time.
//     delay_proxy MICROSECONDS PORT=HOST:PORT…
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;
using steady = std::chrono::steady_clock;

namespace {

std::chrono::microseconds delay; // of one direction

struct pair {
    tcp::socket client, server;
};

/// One direction of a connection: what was read, and when it may go on.
struct direction {
    std::shared_ptr<pair> both;
    tcp::socket &from, &to;
    std::deque<std::pair<steady::time_point, std::string>> packets{};
    asio::steady_timer changed{from.get_executor(), steady::time_point::max()};
    bool ended = false;
};

asio::awaitable<void> read(std::shared_ptr<direction> way) {
    std::array<char, 65536> buffer{};
    boost::system::error_code failed;
    while (true) {
        const auto size = co_await way->from.async_read_some(
            asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
        way->ended = failed.failed();
        if (!failed)
            way->packets.emplace_back(steady::now() + delay, std::string(buffer.data(), size));
        way->changed.cancel();
        if (failed) co_return;
    }
}

asio::awaitable<void> write(std::shared_ptr<direction> way) {
    boost::system::error_code failed;
    asio::steady_timer due(way->from.get_executor());
    while (!failed) {
        if (way->packets.empty()) {
            if (way->ended) break;
            boost::system::error_code woken;
            co_await way->changed.async_wait(asio::redirect_error(asio::use_awaitable, woken));
            continue;
        }
        due.expires_at(way->packets.front().first);
        co_await due.async_wait(asio::use_awaitable);
        const auto packet = std::move(way->packets.front().second);
        way->packets.pop_front();
        co_await asio::async_write(way->to, asio::buffer(packet),
                                   asio::redirect_error(asio::use_awaitable, failed));
    }
    way->to.shutdown(tcp::socket::shutdown_send, failed);
}

asio::awaitable<void> serve(std::uint16_t port, tcp::endpoint target) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), port});
    while (true) {
        auto client = co_await acceptor.async_accept(asio::use_awaitable);
        tcp::socket server(executor);
        boost::system::error_code failed;
        co_await server.async_connect(target, asio::redirect_error(asio::use_awaitable, failed));
        if (failed) continue;
        client.set_option(tcp::no_delay(true));
        server.set_option(tcp::no_delay(true));
        auto both = std::make_shared<pair>(pair{std::move(client), std::move(server)});
        for (const bool up : {true, false}) {
            auto& from = up ? both->client : both->server;
            auto& to = up ? both->server : both->client;
            const auto way = std::make_shared<direction>(direction{both, from, to});
            asio::co_spawn(executor, read(way), asio::detached);
            asio::co_spawn(executor, write(way), asio::detached);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    delay = std::chrono::microseconds(std::stol(argv[1])) / 2;
    asio::io_context io(1);
    for (int i = 2; i < argc; ++i) {
        const std::string both = argv[i];
        const auto equals = both.find('='), colon = both.rfind(':');
        const auto host = asio::ip::make_address(both.substr(equals + 1, colon - equals - 1));
        const auto port = [](const std::string& text) {
            return static_cast<std::uint16_t>(std::stoul(text));
        };
        const auto rethrow = [](std::exception_ptr failed) { std::rethrow_exception(failed); };
        asio::co_spawn(
            io, serve(port(both.substr(0, equals)), {host, port(both.substr(colon + 1))}), rethrow);
    }
    std::cout << "ready" << std::endl;
    io.run();
}
