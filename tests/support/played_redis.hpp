#pragma once

#include "redis/rules/resp.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// A Redis server that a test plays, on the test's event loop: as healthy as the test wants it.
class played_redis {
public:
    using words = std::vector<std::string>;

    /// One connection to it.
    class link : public std::enable_shared_from_this<link> {
    public:
        explicit link(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

        void say(std::string_view bytes) {
            boost::system::error_code ignored;
            boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
        }
        /// One byte in each turn of the event loop.
        void say_slowly(std::string bytes) {
            if (bytes.empty()) return;
            say(std::string_view(bytes).substr(0, 1));
            bytes.erase(0, 1);
            boost::asio::post(
                socket_.get_executor(),
                [self = shared_from_this(), rest = std::move(bytes)] { self->say_slowly(rest); });
        }
        void close() {
            boost::system::error_code ignored;
            socket_.close(ignored);
        }
        bool subscribes = false; ///< the client has

    private:
        friend played_redis;

        void read(played_redis& in) {
            socket_.async_read_some(boost::asio::buffer(bytes_),
                                    [self = shared_from_this(), &in](const auto& error, auto size) {
                                        if (!error) self->on_read(in, size);
                                    });
        }
        void on_read(played_redis& in, std::size_t size) {
            in.packets.push_back({});
            reader_.feed({bytes_.data(), size});
            while (const auto command = reader_.next()) {
                words all;
                for (const auto& item : command->items)
                    all.push_back(item.text);
                in.commands.push_back(all);
                in.packets.back().push_back(all.front());
                in.on_command(*this, all);
            }
            read(in);
        }

        boost::asio::ip::tcp::socket socket_;
        redis::rules::reply_reader reader_;
        std::array<char, 65536> bytes_{};
    };

    explicit played_redis(boost::asio::io_context& io)
        : listener_(io, {boost::asio::ip::address_v4::loopback(), 0}) {
        accept();
    }

    std::uint16_t port() const { return listener_.local_endpoint().port(); }

    /// What a healthy server says.
    std::string healthy(link& to, const words& command) const {
        const auto text = [](std::string_view s) {
            return "$" + std::to_string(s.size()) + "\r\n" + std::string(s) + "\r\n";
        };
        const auto& name = command.front();
        if (name == "INFO") return text("redis_version:7.0.15\r\nrun_id:played\r\nrole:master\r\n");
        if (name == "SCRIPT") return text(std::string(40, 'a'));
        if (name == "PING") return to.subscribes ? "*2\r\n$4\r\npong\r\n$0\r\n\r\n" : "+PONG\r\n";
        if (name == "SUBSCRIBE" || name == "UNSUBSCRIBE") {
            to.subscribes = true;
            return "*3\r\n" + text(name == "SUBSCRIBE" ? "subscribe" : "unsubscribe") +
                   text(command.at(1)) + ":1\r\n";
        }
        if (name == "EVALSHA" || name == "EVAL") return "*2\r\n$4\r\ngone\r\n$1\r\n7\r\n";
        return "+OK\r\n";
    }

    /// Every command, and how the test answers it.
    std::vector<words> commands;
    std::vector<std::vector<std::string>> packets; ///< the names of commands that came together
    std::function<void(link&, const words&)> on_command = [this](link& to, const words& command) {
        to.say(healthy(to, command));
    };
    std::function<void(link&)> on_accept;
    std::vector<std::shared_ptr<link>> links; ///< all there ever were

private:
    void accept() {
        listener_.async_accept([this](const auto& error, boost::asio::ip::tcp::socket socket) {
            if (error) return;
            links.push_back(std::make_shared<link>(std::move(socket)));
            if (on_accept) on_accept(*links.back());
            links.back()->read(*this);
            accept();
        });
    }

    boost::asio::ip::tcp::acceptor listener_;
};

} // namespace paddock::test
