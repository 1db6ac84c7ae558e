// The floor: bare pairs of SET and EVAL (compare and delete) on one connection. With several locks,
// all SETs are sent at once, and then all EVALs.
#include "contestant.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <stdexcept>
#include <string_view>

using namespace paddock::bench;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::string_view compare_and_delete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

std::string command(const std::vector<std::string>& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words)
        text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return text;
}

class connection {
public:
    explicit connection(const std::string& address) : socket_(io_) {
        const auto colon = address.rfind(':');
        tcp::resolver resolver(io_);
        asio::connect(socket_,
                      resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
        socket_.set_option(tcp::no_delay(true));
    }

    /// Sends commands, each of which must be answered with this line.
    void call(const std::string& commands, std::size_t count, std::string_view expected) {
        asio::write(socket_, asio::buffer(commands));
        for (; count > 0; --count) {
            const auto size = asio::read_until(socket_, asio::dynamic_buffer(read_), "\r\n");
            if (std::string_view(read_).substr(0, size - 2) != expected)
                throw std::runtime_error(read_);
            read_.erase(0, size);
        }
    }

private:
    asio::io_context io_;
    tcp::socket socket_;
    std::string read_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    serve([&](const job& wanted, measurement& figures) {
        connection redis(argv[1]);
        const auto locks = wanted.number("locks");
        const std::string value = "0123456789abcdef0123456789abcdef";
        std::string takes, releases;
        for (std::size_t i = 0; i < locks; ++i) {
            const auto key = wanted.text("path") + '-' + std::to_string(i);
            takes += command({"SET", key, value, "NX", "PX", "10000"});
            releases += command({"EVAL", std::string(compare_and_delete), "1", key, value});
        }
        figures.begin();
        while (!figures.over()) {
            const auto asked = steady::now();
            redis.call(takes, locks, "+OK");
            for (std::size_t i = 0; i < locks; ++i)
                figures.count(asked);
            redis.call(releases, locks, ":1");
        }
    });
}
