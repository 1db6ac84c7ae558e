#include "plain_tcp.hpp"

#include <paddock/first_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdlib>
#include <utility>

namespace cli {

namespace {

using asio::ip::tcp;

/// As the user info of a URL has it.
std::string percent_decoded(const std::string& text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const auto digits = text.substr(n + 1, 2);
        const bool escape = text[n] == '%' && digits.size() == 2;
        out += escape ? static_cast<char>(std::strtol(digits.c_str(), nullptr, 16)) : text[n];
        if (escape) n += 2;
    }
    return out;
}

std::string cut_off(std::string& text, char separator) {
    const auto at = text.find(separator);
    const auto rest = at == std::string::npos ? std::string() : text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

listed_server read_server(std::string entry, listed_server all) {
    const auto scheme = entry.find("://");
    if (scheme != std::string::npos) entry = entry.substr(scheme + 3);
    const auto user_end = entry.rfind('@');
    if (user_end != std::string::npos) {
        all.user = entry.substr(0, user_end);
        all.password = percent_decoded(cut_off(all.user, ':'));
        all.user = percent_decoded(all.user);
        entry = entry.substr(user_end + 1);
    }
    const auto path = cut_off(entry, '/');
    if (!path.empty()) all.database = path;
    const auto colon = entry.rfind(':');
    if (colon != std::string::npos && entry.find(']', colon) == std::string::npos) {
        all.port = entry.substr(colon + 1);
        entry = entry.substr(0, colon);
    }
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
    all.host = entry;
    return all;
}

} // namespace

std::vector<listed_server> read_servers(std::string list, const std::string& default_port) {
    std::vector<listed_server> all;
    std::erase(list, ' ');
    while (!list.empty()) {
        auto entry = list;
        list = cut_off(entry, ',');
        if (entry.empty()) continue;
        auto like = all.empty() ? listed_server() : all.front();
        like.port = default_port;
        all.push_back(read_server(entry, like));
    }
    return all;
}

asio::awaitable<void> plain_tcp::limited(asio::awaitable<void> step) const {
    asio::steady_timer limit(co_await asio::this_coro::executor, limit_);
    auto passed = limit.async_wait(asio::use_awaitable);
    const auto first = co_await paddock::first_of(std::move(step), std::move(passed));
    const auto late = make_error_code(boost::system::errc::timed_out);
    if (first.index() == 1) throw paddock::system_error(late);
}

asio::awaitable<void> plain_tcp::connect(tcp::endpoint to) {
    auto step = socket_.async_connect(to, asio::use_awaitable);
    co_await limited(std::move(step));
}

asio::awaitable<void> plain_tcp::write(std::string bytes) {
    const auto all = [&]() -> asio::awaitable<void> {
        co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
    };
    co_await limited(all());
}

asio::awaitable<bool> plain_tcp::read_more(std::string& into) {
    std::array<char, 4096> part{};
    bool more = true;
    const auto some = [&]() -> asio::awaitable<void> {
        const auto answer = asio::as_tuple(asio::use_awaitable);
        const auto [failed, length] = co_await socket_.async_read_some(asio::buffer(part), answer);
        into.append(part.data(), length);
        more = !failed;
        if (failed && failed != asio::error::eof) throw paddock::system_error(failed);
    };
    co_await limited(some());
    co_return more;
}

asio::awaitable<std::vector<tcp::endpoint>> resolve(listed_server server, milliseconds limit) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::resolver resolver(executor);
    asio::steady_timer timer(executor, limit);
    auto asked = resolver.async_resolve(server.host, server.port, asio::use_awaitable);
    auto passed = timer.async_wait(asio::use_awaitable);
    const auto first = co_await paddock::first_of(std::move(asked), std::move(passed));
    const auto late = make_error_code(boost::system::errc::timed_out);
    if (first.index() == 1) throw paddock::system_error(late);
    std::vector<tcp::endpoint> all;
    for (const auto& one : std::get<0>(first))
        all.push_back(one.endpoint());
    co_return all;
}

} // namespace cli
