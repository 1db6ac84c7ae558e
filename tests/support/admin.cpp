#include "admin.hpp"

#include "time_scale.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <stdexcept>

namespace paddock::test {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;

json::object ask(std::uint16_t admin_port, const std::string& command) {
    const auto answer = json::parse(admin_command(admin_port, command)).as_object();
    if (!answer.at("error").is_null()) {
        throw std::runtime_error("the server's HTTP interface refuses " + command + ": " +
                                 json::serialize(answer.at("error")));
    }
    return answer;
}

std::size_t number(const json::object& from, const char* name) {
    return from.at(name).to_number<std::size_t>();
}

} // namespace

std::string admin_command(std::uint16_t admin_port, const std::string& command) {
    asio::io_context io;
    beast::tcp_stream stream(io);
    http::request<http::empty_body> request{http::verb::get, "/commands/" + command, 11};
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::connection, "close");
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 30);
    beast::error_code result = beast::error::timeout;
    stream.async_connect(
        asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), admin_port},
        [&](beast::error_code connect_error) {
            if ((result = connect_error)) {
                return;
            }
            http::async_write(stream, request, [&](beast::error_code write_error, std::size_t) {
                if ((result = write_error)) {
                    return;
                }
                result = beast::error::timeout;
                http::async_read(stream, buffer, parser,
                                 [&](beast::error_code error, std::size_t) { result = error; });
            });
        });
    io.run_for(scaled(std::chrono::seconds(20)));
    if (result) {
        throw std::runtime_error("the server's HTTP interface: " + command + ": " +
                                 result.message());
    }
    return parser.get().body();
}

watch_totals watch_summary(std::uint16_t admin_port) {
    const auto answer = ask(admin_port, "watch_summary");
    return {number(answer, "num_connections"), number(answer, "num_paths"),
            number(answer, "num_total_watches")};
}

std::map<std::string, std::set<std::string>> watches_by_path(std::uint16_t admin_port) {
    std::map<std::string, std::set<std::string>> result;
    const auto answer = ask(admin_port, "watches_by_path");
    for (const auto& [path, sessions] : answer.at("path_to_session_ids").as_object()) {
        auto& ids = result[std::string(path)];
        for (const auto& id : sessions.as_array()) {
            ids.insert(
                std::string(id.is_string() ? id.as_string() : json::string(json::serialize(id))));
        }
    }
    return result;
}

std::size_t count_watches_under(std::uint16_t admin_port, const std::string& prefix) {
    std::size_t total = 0;
    for (const auto& [path, sessions] : watches_by_path(admin_port)) {
        const bool below = path == prefix || prefix == "/" || path.starts_with(prefix + "/");
        if (below) {
            total += sessions.size();
        }
    }
    return total;
}

} // namespace paddock::test
