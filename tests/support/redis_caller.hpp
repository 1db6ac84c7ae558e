#pragma once

#include "redis/rules/scripts.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// A connection to a Redis server, on the library's codec. It waits for each reply, but for those
/// to what was only sent.
class redis_caller {
public:
    using reply = redis::rules::reply;

    explicit redis_caller(std::uint16_t port) : socket_(io_) {
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }

    reply operator()(std::initializer_list<std::string_view> words) {
        std::string command;
        redis::rules::append_command(command, words);
        return call(command);
    }
    reply operator()(const std::vector<std::string>& words) {
        std::string command;
        redis::rules::append_command(command, words);
        return call(command);
    }
    void send(std::initializer_list<std::string_view> words) {
        std::string command;
        redis::rules::append_command(command, words);
        boost::asio::write(socket_, boost::asio::buffer(command));
    }
    redis::rules::answer run(redis::rules::script which, const redis::rules::call_words& words) {
        std::vector<std::string> all{"EVAL", redis::rules::text_of(which)};
        all.insert(all.end(), words.begin(), words.end());
        return redis::rules::read_answer((*this)(all));
    }

    /// The next reply, or message of a channel.
    reply read() {
        for (;;) {
            if (auto said = reader_.next()) return std::move(*said);
            if (!reader_.fault().empty()) throw std::runtime_error(reader_.fault());
            std::array<char, 4096> bytes{};
            const auto size = socket_.read_some(boost::asio::buffer(bytes));
            reader_.feed({bytes.data(), size});
        }
    }

private:
    reply call(const std::string& command) {
        boost::asio::write(socket_, boost::asio::buffer(command));
        return read();
    }

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_;
    redis::rules::reply_reader reader_;
};

} // namespace paddock::test
