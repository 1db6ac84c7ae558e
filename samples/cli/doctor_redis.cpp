#include "doctor.hpp"

#if PADDOCK_HAS_REDIS

#include "text.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace cli {

namespace {

using std::chrono::system_clock;

/// A reply of RESP 2, flattened: the strings and numbers in it, in their order.
struct resp_reply {
    std::string error{};
    std::vector<std::string> values{};
};

/// Just enough of a client for questions: one after the other, and small answers.
class resp_client {
public:
    explicit resp_client(asio::any_io_executor executor) : connection_(executor, doctor_patience) {}

    asio::awaitable<void> connect(asio::ip::tcp::endpoint to) { co_await connection_.connect(to); }

    asio::awaitable<resp_reply> ask(std::vector<std::string> words) {
        std::string request = '*' + std::to_string(words.size()) + "\r\n";
        for (const auto& word : words)
            request += '$' + std::to_string(word.size()) + "\r\n" + word + "\r\n";
        co_await connection_.write(request);
        resp_reply reply;
        co_await read_into(reply);
        co_return reply;
    }

private:
    asio::awaitable<std::string> line() {
        for (;;) {
            const auto end = bytes_.find("\r\n");
            if (end != std::string::npos) {
                const auto text = bytes_.substr(0, end);
                bytes_.erase(0, end + 2);
                co_return text;
            }
            co_await more();
        }
    }

    asio::awaitable<void> more() {
        const bool open = co_await connection_.read_more(bytes_);
        constexpr std::size_t most = 1024 * 1024;
        const auto broken = make_error_code(boost::system::errc::bad_message);
        if (!open || bytes_.size() > most) throw paddock::system_error(broken);
    }

    asio::awaitable<void> read_into(resp_reply& reply) {
        // Arrays within arrays are not asked for.
        long left = 1;
        for (; left > 0; --left) {
            const auto head = co_await line();
            const auto rest = head.empty() ? head : head.substr(1);
            const long number = std::atol(rest.c_str());
            switch (head.empty() ? '\0' : head[0]) {
            case '-':
                reply.error = rest;
                break;
            case '*':
                left += std::clamp(number, 0L, 10'000L);
                break;
            case '$':
                co_await read_bulk(number, reply);
                break;
            default:
                reply.values.push_back(rest);
            }
        }
    }

    asio::awaitable<void> read_bulk(long length, resp_reply& reply) {
        if (length < 0) co_return; // a null: no value
        const auto size = static_cast<std::size_t>(length) + 2;
        while (bytes_.size() < size)
            co_await more();
        reply.values.push_back(bytes_.substr(0, size - 2));
        bytes_.erase(0, size);
    }

    plain_tcp connection_;
    std::string bytes_{};
};

std::string field(const std::string& info, const std::string& name) {
    const auto at = info.find('\n' + name + ':');
    if (at == std::string::npos) return {};
    const auto start = at + name.size() + 2;
    return info.substr(start, info.find_first_of("\r\n", start) - start);
}

class redis_examination {
public:
    redis_examination(asio::any_io_executor executor, listed_server server, diagnosis& out)
        : client_(executor), server_(std::move(server)), out_(out) {}

    asio::awaitable<void> run() {
        try {
            const auto found = co_await resolve(server_, doctor_patience);
            co_await client_.connect(found.at(0));
            const bool admitted = co_await log_in();
            if (admitted) co_await ask_all();
        } catch (const paddock::system_error& failed) {
            say(health::bad, "reached",
                "does not answer (" + failed.code().message() + "): check whether it runs");
        }
    }

private:
    void say(health how, const std::string& check, const std::string& text) {
        out_.add(how, server_.name(), check, text);
    }

    asio::awaitable<bool> log_in() {
        std::vector<std::vector<std::string>> steps;
        if (!server_.password.empty() && server_.user.empty())
            steps.push_back({"AUTH", server_.password});
        else if (!server_.password.empty())
            steps.push_back({"AUTH", server_.user, server_.password});
        if (!server_.database.empty()) steps.push_back({"SELECT", server_.database});
        steps.push_back({"PING"});
        for (const auto& step : steps) {
            const auto reply = co_await client_.ask(step);
            if (reply.error.empty()) continue;
            say(health::bad, "reached",
                "refuses " + step.at(0) + " (" + reply.error + "): check the credentials");
            co_return false;
        }
        co_return true;
    }

    asio::awaitable<void> ask_all() {
        const auto begin = system_clock::now();
        const std::vector<std::string> question{"INFO"};
        const auto answer = co_await client_.ask(question);
        const auto time = std::chrono::duration_cast<milliseconds>(system_clock::now() - begin);
        if (answer.values.empty()) {
            say(health::bad, "info", "refuses INFO (" + answer.error + "), which locks need");
            co_return;
        }
        info_ = '\n' + answer.values.at(0);
        say(health::ok, "reached",
            "answers in " + std::to_string(time.count()) + " ms; version " +
                field(info_, "redis_version"));
        say_version();
        say_role();
        say_memory();
        co_await say_persistence();
        co_await say_mark();
        co_await say_clock();
    }

    void say_version() {
        if (std::atoi(field(info_, "redis_version").c_str()) < 5)
            say(health::bad, "version", "is older than Redis 5: upgrade it");
        if (field(info_, "cluster_enabled") == "1")
            say(health::bad, "cluster",
                "is part of a cluster, which locks do not use: list "
                "independent servers");
    }

    void say_role() {
        const auto role = field(info_, "role");
        if (role != "master")
            return say(health::bad, "role", "is a " + role + ", and no master: list the master");
        const auto replicas = field(info_, "connected_slaves");
        if (replicas == "0") return say(health::ok, "role", "is a master without replicas");
        say(health::warn, "role",
            "is a master with " + replicas +
                " replica(s): when one of them is promoted it can lack the newest locks; fencing "
                "tokens help, or several independent masters");
    }

    void say_memory() {
        const auto limit = field(info_, "maxmemory");
        const auto policy = field(info_, "maxmemory_policy");
        if (policy.empty() || limit.empty())
            return say(health::ok, "memory", "its maxmemory-policy is unknown");
        if (policy == "noeviction") return say(health::ok, "memory", "evicts no keys");
        const auto text = "maxmemory-policy is " + policy;
        if (limit == "0")
            return say(health::warn, "memory",
                       text + ": without effect while maxmemory is 0; set noeviction");
        say(health::bad, "memory", text + ", which may evict a lock: set noeviction");
    }

    /// `unknown` if CONFIG is forbidden.
    asio::awaitable<std::string> setting(std::string name) {
        const std::vector<std::string> question{"CONFIG", "GET", name};
        const auto reply = co_await client_.ask(question);
        co_return reply.values.size() == 2 ? reply.values[1] : std::string("unknown");
    }

    asio::awaitable<void> say_persistence() {
        const auto fsync = co_await setting("appendfsync");
        const auto save = co_await setting("save");
        if (field(info_, "aof_enabled") == "1") {
            const auto rest = fsync == "always" ? ""
                                                : ": a crash can lose the newest locks, so it "
                                                  "grants none for max_ttl afterwards";
            say(health::ok, "persistence",
                "writes an append-only file; appendfsync is " + fsync + rest);
            co_return;
        }
        say(health::ok, "persistence",
            "writes no append-only file; save is '" + save +
                "': after a restart it grants no lock for max_ttl (a minute)");
    }

    asio::awaitable<void> say_mark() {
        const std::vector<std::string> question{"HMGET", "paddock:server", "max_ttl", "servers"};
        const auto reply = co_await client_.ask(question);
        if (!reply.error.empty())
            say(health::warn, "mark",
                "the key paddock:server cannot be read (" + reply.error + ')');
        else if (reply.values.size() == 2)
            say(health::ok, "mark",
                "was used by clients with a max_ttl of " + reply.values[0] + " ms, and " +
                    reply.values[1] + " server(s)");
        else
            say(health::warn, "mark",
                "has granted no lock yet: the first one waits for max_ttl; --new-servers if it "
                "was just set up");
    }

    asio::awaitable<void> say_clock() {
        const std::vector<std::string> question{"TIME"};
        const auto before = system_clock::now();
        const auto reply = co_await client_.ask(question);
        if (reply.values.size() != 2) {
            say(health::bad, "clock", "refuses TIME (" + reply.error + "), which locks need");
            co_return;
        }
        const milliseconds time(std::atoll(reply.values[0].c_str()) * 1000 +
                                std::atoll(reply.values[1].c_str()) / 1000);
        compare_clocks(before, time, system_clock::now(), server_.name(), out_);
    }

    resp_client client_;
    const listed_server server_;
    diagnosis& out_;
    std::string info_{};
};

} // namespace

asio::awaitable<void> examine_redis(const server_options& how, diagnosis& out) {
    const auto executor = co_await asio::this_coro::executor;
    auto listening = how;
    listening.first_trouble = std::make_shared<std::string>();
    servers at(executor, listening);
    const auto all = read_servers(at.redis_url(), "6379");
    const bool encrypted = at.redis_url().find("rediss://") != std::string::npos;
    if (encrypted)
        out.add(health::warn, "", "encrypted",
                "version, role, eviction, persistence and clock are not checked: there are "
                "connections with TLS, and paddock asks single servers without it");
    else
        for (const auto& server : all) {
            redis_examination examined(executor, server, out);
            co_await examined.run();
        }
    const auto answer = asio::as_tuple(asio::use_awaitable);
    const auto [failed] = co_await at.redis().connect_for(doctor_patience, answer);
    const auto& why = *listening.first_trouble;
    if (failed)
        out.add(health::bad, "", "usable",
                "no client can use them for locks: " + failed.message() +
                    (why.empty() ? std::string() : " (" + why + ')'));
    else
        out.add(health::ok, "", "usable", "a client can use them for locks");
    if (all.size() == 1)
        out.add(
            health::ok, "", "one_server",
            "a single server: a lock is as safe as its memory; three independent ones are more");
    co_await at.close();
}

} // namespace cli

#endif
