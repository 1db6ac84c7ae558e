#include "servers.hpp"

#include <paddock/first_of.hpp>
#include <paddock/options.hpp>
#include <paddock/statistics.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

std::vector<paddock::digest_credentials> read_credentials(const std::string& file) {
    std::vector<paddock::digest_credentials> all;
    if (file.empty()) return all;
    std::ifstream lines(file);
    if (!lines) throw usage_error("--auth-file: " + file + " cannot be read");
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#') continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos)
            throw usage_error("--auth-file: a line of " + file + " is not user:password");
        all.push_back({line.substr(0, colon), line.substr(colon + 1)});
    }
    if (all.empty()) throw usage_error("--auth-file: " + file + " has no user:password");
    return all;
}

/// As the user info of a URL has it.
std::string percent_encoded(std::string_view text) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        ((out += '%') += digits[byte / 16]) += digits[byte % 16];
    }
    return out;
}

/// The library's texts name its options; here they have other names.
std::string in_words_of_the_shell(std::string text) {
    static const std::vector<std::pair<std::string, std::string>> names{
        {"tls_files::certificate", "--tls-cert"},
        {"tls_files::", "--tls-"},
        {"client_options::tls has", "--tls-ca and its like have"},
        {"client_options::tls", "--tls-ca"},
        {"redis::client_options::", ""},
        {"client_options::", ""},
        {"trust_new_servers", "--new-servers"},
        {"create_root is not set; the log has its path", "--create-root creates it"},
        {"create_root", "--create-root"},
        {"session_timeout", "--session-timeout"},
        {"the program's event loop stood still", "paddock stood still"}};
    for (const auto& [theirs, ours] : names)
        for (std::size_t at = 0; (at = text.find(theirs, at)) != std::string::npos;
             at += ours.size())
            text.replace(at, theirs.size(), ours);
    return text;
}

paddock::log_function log_of(const server_options& how) {
    return [quiet = how.quiet, first = how.first_trouble](const paddock::log_record& line) {
        if (first && first->empty()) *first = in_words_of_the_shell(std::string(line.text));
        if (quiet && line.level != paddock::log_level::error) return;
        std::cerr << "paddock: " + in_words_of_the_shell(std::string(line.text)) + '\n';
    };
}

/// Without the password that it may have.
std::string shown(const std::string& url) {
    const auto begin = url.find("://"), at = url.rfind('@');
    if (begin == std::string::npos || at == std::string::npos) return url;
    return url.substr(0, begin + 3) + url.substr(at + 1);
}

} // namespace

void explain(const paddock::system_error& error) {
    const auto& code = error.code();
    const bool named = dynamic_cast<const paddock::bad_argument_error*>(&error) != nullptr;
    const auto text = in_words_of_the_shell(named ? error.what() : code.message());
    if (code == paddock::errc::bad_argument) throw usage_error(text);
    if (code == paddock::condition::not_permitted || code == paddock::condition::auth_failed)
        throw failure(text + ": give credentials with --auth-file");
    if (code == paddock::errc::outcome_unknown)
        throw failure(text + ": look with paddock ls what has happened");
    throw failure(text);
}

bool wants_tls(const server_options& how) {
    const auto& files = how.tls_files;
    return !files.ca.empty() || !files.certificate.empty() || !files.key.empty() ||
           !files.crl.empty() || !how.tls_name.empty();
}

servers::servers(asio::any_io_executor executor, const server_options& how) : how_(how) {
    if (how.servers.empty())
        throw usage_error("no servers are named: give --servers, or set PADDOCK_SERVERS");
    if (!how.empty_variable.empty()) throw usage_error(how.empty_variable + " is set, and empty");
    const auto mark = how.servers.find("://");
    const auto scheme = how.servers.substr(0, mark == std::string::npos ? 0 : mark);
    const auto rest = how.servers.substr(scheme.empty() ? 0 : mark + 3);
    const auto credentials = read_credentials(how.auth_file);
    try {
        if (wants_tls(how)) certificates_.emplace(executor, how.tls_files, how.tls_name);
        const auto tls = certificates_ ? certificates_->tls() : paddock::tls();
        if (scheme.empty() || scheme == "zk" || scheme == "zookeeper") {
            paddock::client_options options;
            options.session_timeout = how.session_timeout;
            options.create_root = how.create_root;
            options.lease.min_validity = how.session_timeout * 9 / 20; // more than the margin
            options.auth = credentials;
            options.tls = tls;
            options.log = log_of(how);
            zk_.emplace(std::move(executor), rest, std::move(options));
            return;
        }
#if PADDOCK_HAS_REDIS
        if (scheme == "redis" || scheme == "rediss") {
            paddock::redis::client_options options;
            options.ttl = how.session_timeout;
            options.max_ttl = std::max(options.max_ttl, options.ttl);
            options.trust_new_servers = how.new_servers;
            options.min_validity = how.session_timeout * 9 / 20;
            options.tls = tls;
            options.log = log_of(how);
            redis_url_ = how.servers;
            if (!credentials.empty())
                redis_url_ = scheme + "://" + percent_encoded(credentials[0].user) + ':' +
                             percent_encoded(credentials[0].password) + '@' + rest;
            redis_.emplace(std::move(executor), redis_url_, std::move(options));
            return;
        }
#endif
    } catch (const paddock::system_error& refused) {
        explain(refused);
    }
    throw usage_error("--servers: " + scheme +
                      ":// is not known; there are zk://, redis:// and rediss://");
}

asio::awaitable<void> servers::connect(std::chrono::nanoseconds limit) {
    const auto patience = std::min<std::chrono::nanoseconds>(limit, how_.connect_timeout);
    const auto answer = asio::as_tuple(asio::use_awaitable);
    paddock::error_code failed;
#if PADDOCK_HAS_REDIS
    if (redis_) std::tie(failed) = co_await redis_->connect_for(patience, answer);
#endif
    if (zk_) std::tie(failed) = co_await zk_->connect_for(patience, answer);
    if (!failed) co_return;
    if (failed == paddock::errc::not_connected)
        throw failure("no server of " + shown(how_.servers) +
                      (wants_tls(how_) ? " could be used: check --servers, whether they run, and "
                                         "--tls-ca and its like"
                                       : " answers: check --servers, and whether they run"));
    explain(paddock::system_error(failed));
}

asio::awaitable<void> servers::close() {
    asio::steady_timer limit(co_await asio::this_coro::executor, std::chrono::seconds(1));
    const auto close_it = [this]() -> asio::awaitable<void> {
        const auto answer = asio::as_tuple(asio::use_awaitable);
#if PADDOCK_HAS_REDIS
        if (redis_) co_await redis_->close(answer);
#endif
        if (zk_) co_await zk_->close(answer);
    };
    co_await paddock::first_of(close_it(), limit.async_wait(asio::use_awaitable));
}

bool servers::on_redis() const { return !zk_; }

paddock::client& servers::zk(const std::string& what) {
    if (!zk_) throw usage_error(what + " is not available on Redis");
    return *zk_;
}

std::chrono::milliseconds servers::session_timeout() const {
    if (!zk_) return how_.session_timeout;
    const auto granted = zk_->statistics().session_timeout;
    return granted.count() > 0 ? granted : how_.session_timeout;
}

} // namespace cli
