#pragma once

#include "native/pump.hpp"
#include "run_until.hpp"
#include "support/asio_environment.hpp"
#include "time_scale.hpp"
#include "tls_front.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// One pump over the real C client and the real environment, on an io_context that the test runs.

namespace paddock::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Records a pump's calls of its user, and checks their invariants.
class recording_user : public native::pump_user {
public:
    void on_connected(std::uint64_t connection) noexcept override {
        CHECK_FALSE(up);
        CHECK(connection == connected + 1);
        up = true;
        ++connected;
        if (when_connected) when_connected();
    }
    void on_disconnected() noexcept override {
        CHECK(up);
        up = false;
        ++disconnected;
        if (when_disconnected) when_disconnected();
    }
    void on_session_ended(error_code why) noexcept override {
        CHECK_FALSE(up);
        CHECK_FALSE(over);
        over = why;
        if (when_ended) when_ended();
    }
    void on_watch(native::watch_type type, std::string_view path) noexcept override {
        watches.emplace_back(type, path);
    }
    void on_sending() noexcept override {
        if (when_sending) when_sending();
    }
    void on_refused() noexcept override { ++refused; }
    void on_trouble(log_code code, std::string_view what) noexcept override {
        if (code != log_code::c_client)
            troubles.emplace_back(what);
        else
            error_lines.emplace_back(what);
    }

    bool up = false;
    std::uint64_t connected = 0;
    std::uint64_t disconnected = 0;
    std::uint64_t refused = 0;
    std::optional<error_code> over;
    std::vector<std::pair<native::watch_type, std::string>> watches;
    std::vector<std::string> troubles;
    std::vector<std::string> error_lines; ///< of the C client
    std::function<void()> when_connected;
    std::function<void()> when_disconnected;
    std::function<void()> when_ended;
    std::function<void()> when_sending;
};

/// The addresses "127.0.0.1:port", and "[::1]:port" without the brackets.
inline native::server_address literal_server(std::uint16_t port, std::string host = "127.0.0.1") {
    return {std::move(host), port, true};
}

inline void run_for(asio::io_context& io, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        io.restart();
        io.run_one_until(end);
    }
}

/// A request's answer, as far as the tests look at it.
struct seen_reply {
    int rc = 1; ///< not answered yet
    int times = 0;
    std::string value;
    std::vector<std::string> names;
    std::optional<paddock::node_stat> stat;
    std::vector<operation_result> results;
    acl entries;

    bool answered() const { return times != 0; }
};

using submitted = std::shared_ptr<seen_reply>;

inline native::calls::done into(const submitted& where) {
    return native::on_reply([where](const native::reply& answer) {
        ++where->times;
        where->rc = answer.rc;
        where->value = answer.value;
        where->names.assign(answer.names.begin(), answer.names.end());
        if (answer.stat != nullptr) where->stat = *answer.stat;
        where->results.assign(answer.results.begin(), answer.results.end());
        where->entries.assign(answer.entries.begin(), answer.entries.end());
    });
}

/// With PADDOCK_TEST_TLS fronts of all servers, which take their places. `name`: see tls().
inline std::vector<std::unique_ptr<tls_front>> put_fronts(native::pump_options& how,
                                                          const std::string& name = {}) {
    std::vector<std::unique_ptr<tls_front>> all;
    if (!over_tls()) return all;
    for (auto& server : how.servers) {
        all.push_back(front_of(server.port));
        server.port = all.back()->port();
    }
    how.tls = tls({.ca = tls_front::ca_file()}, name);
    return all;
}

struct pump_harness {
    /// Also over TLS, if all servers are at 127.0.0.1.
    explicit pump_harness(native::pump_options how)
        : fronts(all_here(how) ? put_fronts(how) : decltype(fronts)())
        , pump(
              std::make_shared<native::pump>(*env, native::make_c_client(), std::move(how), user)) {
        pump->start();
    }
    explicit pump_harness(std::uint16_t port, std::chrono::milliseconds session_timeout = 10s)
        : pump_harness(native::pump_options{{literal_server(port)}, session_timeout, {}}) {}
    ~pump_harness() {
        if (pump) pump->close();
    }

    template <class Predicate>
    bool until(Predicate predicate, std::chrono::milliseconds limit = 10s) {
        return run_until(*io, std::move(predicate), limit);
    }
    bool connect(std::chrono::milliseconds limit = 10s) {
        return until([&] { return user.up; }, limit);
    }

    /// Makes a request; a code other than ok is put into its reply.
    template <class Make>
    submitted submit(Make make) {
        auto result = std::make_shared<seen_reply>();
        const int rc =
            pump->submit([&](native::calls& table) { return make(table, into(result)); });
        if (rc != native::code::ok) {
            CHECK(result->times == 0);
            result->rc = rc;
            result->times = 1;
        }
        return result;
    }
    submitted create(const std::string& path, create_mode mode = create_mode::persistent,
                     const std::string& data = {}) {
        return submit([&](native::calls& table, native::calls::done reply_to) {
            create_options how;
            how.mode = mode;
            return table.create(path, data, how, std::move(reply_to));
        });
    }
    submitted get(const std::string& path, bool watch = false) {
        return submit([&](native::calls& table, native::calls::done reply_to) {
            return table.get(path, watch, std::move(reply_to));
        });
    }
    submitted exists(const std::string& path, bool watch = false) {
        return submit([&](native::calls& table, native::calls::done reply_to) {
            return table.exists(path, watch, std::move(reply_to));
        });
    }
    /// Runs the context until the answer comes, and returns it.
    seen_reply wait(const submitted& result, std::chrono::milliseconds limit = 10s) {
        CHECK(until([&] { return result->answered(); }, limit));
        return *result;
    }

    std::vector<std::unique_ptr<tls_front>> fronts;
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io->get_executor())));
    recording_user user;
    std::shared_ptr<native::pump> pump;

private:
    static bool all_here(const native::pump_options& how) {
        return std::all_of(how.servers.begin(), how.servers.end(),
                           [](const auto& each) { return each.host == "127.0.0.1"; });
    }
};

} // namespace paddock::test
