// How a connection begins: the server's name, its addresses, the credentials, the database.

#include "redis/connection/connection.hpp"
#include "redis/rules/scripts.hpp"
#include "tls/stream.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>

namespace paddock::redis {

using boost::system::error_code;

namespace {

/// A numeric address needs no look-up, which would start Asio's resolver thread.
bool is_numeric(std::string_view host) noexcept {
    return host.find_first_not_of("0123456789.") == host.npos || host.find(':') != host.npos;
}

/// An error in reply to AUTH may quote the command, with the password in it: only texts that are
/// known are shown.
std::string shown_refusal(const std::string& text) {
    constexpr std::array<std::string_view, 3> harmless{
        "ERR max number of clients", "WRONGPASS invalid username-password pair", "DENIED Redis is"};
    for (const auto each : harmless)
        if (text.starts_with(each)) return text.substr(0, text.find('\r'));
    if (text.find("no password is set") != text.npos ||
        text.find("without any password configured") != text.npos)
        return "the server has no password";
    const auto code = text.substr(0, text.find(' '));
    const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
    constexpr std::size_t longest_code = 15; // Redis' own are shorter
    const bool is_code =
        code.size() <= longest_code && std::all_of(code.begin(), code.end(), is_letter);
    return is_code ? code : "an error";
}

/// Errors that say what the server does at the moment.
bool passes(std::string_view text) noexcept {
    constexpr std::array<std::string_view, 5> states{"LOADING", "BUSY", "MASTERDOWN", "TRYAGAIN",
                                                     "ERR max number of clients"};
    return std::any_of(states.begin(), states.end(),
                       [&](auto each) { return text.starts_with(each); });
}

} // namespace

void connection::resolve() {
    if (is_numeric(where_.host)) {
        addresses_.push_back(where_.host);
        return try_next_address();
    }
    env_.resolve(where_.host, [this, alive = std::weak_ptr(alive_)](
                                  const error_code& error, std::vector<std::string> found) {
        if (alive.expired() || stage_ == stage::ended) return;
        if (error || found.empty())
            return end(ending::lost, "the name " + where_.host + " has no address: " +
                                         (error ? error.message() : "none is known"));
        addresses_ = std::move(found);
        std::reverse(addresses_.begin(), addresses_.end());
        try_next_address();
    });
}

/// Within this call nothing calls back.
void connection::try_next_address() {
    address_ = addresses_.back();
    addresses_.pop_back();
    auto link = env_.make_stream();
    timer_->arm(env_.now() + limits_.connect, [this] {
        on_connected(boost::system::errc::make_error_code(boost::system::errc::timed_out));
    });
    link->connect(address_, where_.port, [this](error_code error) { on_connected(error); });
    stream_ = std::move(link);
}

void connection::on_connected(const error_code& error) {
    if (!error) return where_.tls ? secure() : greet();
    stream_.reset();
    problem_ = address_ + " cannot be reached: " + error.message();
    if (addresses_.empty()) return end(ending::lost, problem_);
    try_next_address();
}

/// A server with another certificate at each of its addresses is not looked for.
void connection::secure() {
    timer_->arm(env_.now() + limits_.answer, [this] {
        end(ending::lost, "the server has not answered TLS's handshake for " +
                              std::to_string(limits_.answer.count()) +
                              " ms: its port may take plain connections");
    });
    stream_ = make_tls_stream(env_, std::move(stream_), limits_.tls, where_.host,
                              [this](const error_code& error) { on_secured(error); });
}

void connection::on_secured(const error_code& error) {
    if (!error) return greet();
    if (error == boost::asio::error::eof)
        return end(ending::lost, "the server has closed the connection in TLS's handshake: its "
                                 "port may take plain connections");
    broken(error);
}

void connection::greet() {
    stage_ = stage::greeting;
    heard_ = env_.now();
    watch_time();
    read();
    const bool selects = where_.database != 0;
    const auto step = [this](const char* name, bool is_last) {
        return [this, name, is_last](const std::optional<rules::reply>& said, time_point) {
            greeted(name, said, is_last);
        };
    };
    if (!where_.password.empty()) {
        words command{"AUTH"};
        if (!where_.user.empty()) command.push_back(where_.user);
        command.push_back(where_.password);
        queue(command, step("AUTH", !selects));
    }
    if (selects) queue({"SELECT", std::to_string(where_.database)}, step("SELECT", true));
    if (!open_.empty()) return;
    open();
}

/// The first commands leave together.
void connection::open() {
    stage_ = stage::open;
    if (!flush_posted_) flush_behind();
    user_.on_open();
}

void connection::greeted(const char* step, const std::optional<rules::reply>& said, bool is_last) {
    if (!said || stage_ != stage::greeting) return;
    if (said->what != rules::reply::kind::status) {
        const bool authenticates = std::string_view(step) == "AUTH";
        auto text = !said->is_error() ? "an unexpected reply"
                    : authenticates   ? shown_refusal(said->text)
                                      : shown(said->text);
        const bool may_pass = !said->is_error() || passes(said->text);
        return end(may_pass ? ending::lost : ending::refused,
                   std::string("the server refuses ") + step + ": " + text);
    }
    if (!is_last) return;
    open();
}

} // namespace paddock::redis
