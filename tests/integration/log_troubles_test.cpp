// What a client's log says of trouble that is staged: its code, its lock, its words.

#include "support/lock_harness.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// The lines of a log; the client may outlive the test.
class log_book {
public:
    log_function writer() const {
        return [all = lines_](const log_record& line) {
            all->push_back({line.code, std::string(line.text), std::string(line.path)});
        };
    }

    struct line {
        log_code code;
        std::string text, path;
    };
    const std::vector<line>& lines() const { return *lines_; }
    std::size_t count(log_code code) const {
        return static_cast<std::size_t>(std::count_if(
            lines_->begin(), lines_->end(), [&](const line& one) { return one.code == code; }));
    }
    line first(log_code code) const { return one_of(lines_->begin(), lines_->end(), code); }
    line last(log_code code) const { return one_of(lines_->rbegin(), lines_->rend(), code); }

private:
    template <typename Iterator>
    static line one_of(Iterator begin, Iterator end, log_code code) {
        const auto found =
            std::find_if(begin, end, [&](const line& one) { return one.code == code; });
        return found == end ? line{} : *found;
    }

    std::shared_ptr<std::vector<line>> lines_ = std::make_shared<std::vector<line>>();
};

client_options writing_to(const log_book& log, std::chrono::milliseconds timeout) {
    auto options = short_session(timeout);
    options.log = log.writer();
    return options;
}

/// Answers what comes first on each connection, and keeps the connections.
class answering_server {
public:
    using answer_to = std::function<std::string(const std::string&)>;
    answering_server(const asio::any_io_executor& executor, answer_to answer)
        : listener_(executor, {asio::ip::address_v4::loopback(), 0}), answer_(std::move(answer)) {
        accept();
    }
    std::string address() const {
        return "127.0.0.1:" + std::to_string(listener_.local_endpoint().port());
    }
    std::size_t accepted() const { return sockets_.size(); }

private:
    void accept() {
        listener_.async_accept([this](const auto& error, asio::ip::tcp::socket socket) {
            if (error) return;
            auto& one = sockets_.emplace_back(std::move(socket));
            auto bytes = std::make_shared<std::string>(4096, '\0');
            one.async_read_some(asio::buffer(*bytes), [this, &one, bytes](auto failed, auto size) {
                bytes->resize(size);
                if (!failed) asio::write(one, asio::buffer(answer_(*bytes)), failed);
            });
            accept();
        });
    }

    asio::ip::tcp::acceptor listener_;
    answer_to answer_;
    std::list<asio::ip::tcp::socket> sockets_;
};

/// A test that waits for seconds is too long to be torn down after each of its steps.
bool torn_down(co_context& test) { return test.full_or_brief(false, true); }

} // namespace

CO_TEST("a hold whose node somebody deletes is in the log: its lock, its time, the reason") {
    const log_book log;
    scene s(executor, writing_to(log, 4s));
    const auto a = ask(s.lock);
    co_await granted(a);
    s.direct.remove(std::string(held(a).path()));
    co_await eventually([&] { return log.count(log_code::lock_lost) == 1; });
    const auto line = log.first(log_code::lock_lost);
    CHECK(line.path == s.path);
    CHECK(line.text.starts_with("the lock " + s.path + " is lost, held for "));
    CHECK(line.text.ends_with(make_error_code(errc::node_deleted).message()));
    held(a) = guard();
}

CO_TEST("a hold that ends as its owner wants is not in the log") {
    const log_book log;
    scene s(executor, writing_to(log, 4s));
    const auto a = ask(s.lock);
    co_await granted(a);
    co_await unlocked(a);
    const auto b = ask(s.lock);
    co_await granted(b);
    held(b) = guard();
    const auto c = ask(s.lock);
    co_await granted(c);
    co_await s.zk.close();
    CHECK(log.lines().empty());
}

CO_TEST("a hold that reaches its longest time is in the log as lost") {
    const log_book log;
    scene s(executor, writing_to(log, 4s));
    mutex_options options;
    options.hold_limit.longest = 50ms;
    mutex limited(s.zk, s.path, options);
    const auto a = ask(limited);
    co_await finished(a); // a slow machine may see it end before it can ask
    CHECK(!a->error);
    co_await eventually([&] { return log.count(log_code::lock_lost) == 1; });
    CHECK(log.first(log_code::lock_lost)
              .text.ends_with(make_error_code(errc::hold_expired).message()));
    held(a) = guard();
}

CO_TEST("a hold that was given back on request is in the log, but not as lost") {
    const log_book log;
    scene s(executor, writing_to(log, 4s));
    mutex_options options;
    options.revocable = true;
    mutex kind(s.zk, s.path, options);
    const auto a = ask(kind);
    co_await granted(a);
    s.direct.set(std::string(held(a).path()), "__REVOKE__");
    co_await eventually([&] { return log.count(log_code::lock_revoked) == 1; });
    CHECK(log.first(log_code::lock_revoked).path == s.path);
    CHECK(log.count(log_code::lock_lost) == 0);
    held(a) = guard();
}

CO_TEST("of many holds that are lost together three are named, and the others counted") {
    const log_book log;
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), writing_to(log, 4s));
    const auto root = fresh_root();
    std::vector<std::unique_ptr<mutex>> locks;
    std::vector<lock_call> calls;
    for (int n = 0; n < 50; ++n) {
        locks.push_back(std::make_unique<mutex>(zk, root + "/" + std::to_string(n)));
        calls.push_back(ask(*locks.back()));
    }
    for (const auto& one : calls)
        co_await granted(one);
    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return log.count(log_code::lock_lost) == 4; });
    CHECK(log.count(log_code::session_expired) == 1);
    const auto last = log.last(log_code::lock_lost).text; // others may follow: of the connection
    CAPTURE(last);
    CHECK(last.starts_with("47 other locks are lost, too, the last one /"));
    for (const auto& one : calls)
        held(one) = guard();
    co_await zk.close();
}

CO_TEST("work that blocks the event loop for too long keeps its result, and the log says so") {
    if (torn_down(test)) co_return;
    const log_book log;
    scene s(executor, writing_to(log, 2s));
    co_await s.zk.connect();
    const auto stood_still = s.zk.session_timeout() + 500ms;
    bool alone = true;
    const int result = co_await s.lock.with([&](guard& held) -> asio::awaitable<int> {
        std::this_thread::sleep_for(stood_still);
        alone = held.valid();
        co_return 7;
    });
    CHECK(result == 7);
    CHECK_FALSE(alone);
    co_await eventually([&] { return log.count(log_code::lock_lost) == 1; });
    REQUIRE(log.count(log_code::loop_stalled) == 1);
    const auto stall = log.first(log_code::loop_stalled).text;
    const std::string begin = "the program's event loop stood still for at least ";
    CHECK((stall.starts_with(begin + "1.") || stall.starts_with(begin + "2.")));
    CHECK(log.first(log_code::lock_lost).path == s.path);
}

CO_TEST("an outage that costs a hold is not said to be the event loop's fault") {
    if (torn_down(test)) co_return;
    const log_book log;
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), writing_to(log, 2s));
    mutex lock(zk, fresh_root() + "/lock");
    const auto a = ask(lock);
    co_await granted(a);
    proxy.refuse(true);
    proxy.cut_all(cut::rst);
    co_await eventually([&] { return log.count(log_code::lock_lost) == 1; });
    CHECK(log.first(log_code::lock_lost)
              .text.ends_with(make_error_code(errc::lease_lapsed).message()));
    CHECK(log.count(log_code::loop_stalled) == 0);
    proxy.refuse(false);
    held(a) = guard();
    co_await zk.close();
}

CO_TEST("a server that stood still and goes on is in the log twice: at its begin and its end") {
    if (torn_down(test)) co_return;
    static zk_server frozen;
    const log_book log;
    client zk(executor, frozen.address(), writing_to(log, 4s));
    co_await zk.connect();
    SUBCASE("for a moment, which the connection outlives") {
        frozen.pause();
        co_await eventually([&] { return log.count(log_code::silent_server) == 1; });
        CHECK(log.first(log_code::silent_server)
                  .text.starts_with("the server " + frozen.address() +
                                    ", the only known one, has not answered for "));
    }
    SUBCASE("for longer than a connection lives") {
        frozen.pause();
        co_await eventually([&] { return zk.state() == client_state::suspended; });
        co_await eventually([&] { return log.count(log_code::c_client) == 1; });
    }
    CHECK(log.count(log_code::recovered) == 0);
    frozen.resume();
    co_await eventually([&] { return log.count(log_code::recovered) == 1; });
    CHECK(
        log.lines().back().text.starts_with("the server " + frozen.address() + " answers after "));
    co_await zk.close();
}

CO_TEST("a session timeout that the servers do not grant is in the log, once") {
    const log_book log;
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), writing_to(log, 100ms));
    co_await zk.connect();
    REQUIRE(zk.session_timeout() != 100ms);
    REQUIRE(log.count(log_code::session_timeout) == 1);
    CHECK(log.first(log_code::session_timeout).text.find(" instead of the requested 0.1 s") !=
          std::string::npos);
    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return zk.epoch() == 2; });
    CHECK(log.count(log_code::session_timeout) == 1);
    co_await zk.close();
}

CO_TEST("a lock that the client has no right to use is in the log, with the rights that it needs") {
    const log_book log;
    scene s(executor, writing_to(log, 4s));
    s.direct.make_path(s.path);
    s.direct.set_acl(s.path, {{1 | 16, "world", "anyone"}}); // read
    const shared_mutex rw(s.zk, s.path);
    const simple_mutex simple(s.zk, s.path + "/simple");
    const semaphore pool(s.zk, s.path + "/pool", 1);
    std::size_t lines = 0;
    const auto expect = [&](lock_call call, const std::string& path,
                            const std::string& directories) -> asio::awaitable<void> {
        co_await finished(call);
        CHECK(call->error == zk_errc::no_auth);
        REQUIRE(log.lines().size() == ++lines);
        CHECK(log.lines().back().code == log_code::not_permitted);
        CHECK(log.lines().back().path == path);
        CHECK(log.lines().back().text.starts_with(
            "the ensemble does not authorise this client to use the lock " + path +
            ": it needs CREATE, DELETE and READ in " + directories +
            " (CREATE in the directory above, if that is missing), and has no credentials "));
    };
    co_await expect(ask(s.lock), s.path, s.path);
    const auto again = start<guard>([&](auto token) { rw.lock_shared(std::move(token)); });
    co_await finished(again); // the same path: no second line
    co_await expect(start<guard>([&](auto token) { simple.lock(std::move(token)); }),
                    s.path + "/simple", s.path);
    co_await expect(start<guard>([&](auto token) { pool.acquire(std::move(token)); }),
                    s.path + "/pool", s.path + "/pool/locks and " + s.path + "/pool/leases");
    s.direct.set_acl(s.path, {{4 | 8 | 16, "world", "anyone"}}); // not to read
    const auto unread = ask_now(s.lock);
    co_await finished(unread);
    CHECK(unread->error == zk_errc::no_auth);
    CHECK(log.lines().size() == lines);
}

CO_TEST("whoever answers the handshake without a session is no server, and is left for another") {
    // The length, the version, the timeout, the session, the length of its password.
    const std::string head("\0\0\0\x25\0\0\0\0", 8), second("\0\0\x03\xe8", 4), no_time(4, '\0');
    const std::string one("\0\0\0\0\0\0\0\x01", 8), none(8, '\0');
    const std::string rest = std::string("\0\0\0\x10", 4) + std::string(17, '\0');
    for (const auto& answer : {std::string(), head + no_time + none + rest,
                               head + no_time + one + rest, head + second + none + rest}) {
        CAPTURE(answer.size());
        answering_server wrong(executor, [&](const std::string& asked) {
            return answer.empty() ? asked : answer; // or an echo
        });
        const log_book log;
        client zk(executor, wrong.address() + ',' + shared_server().address(),
                  writing_to(log, 10s));
        client alone(executor, wrong.address(), writing_to(log, 10s));
        asio::co_spawn(executor, alone.connect(), asio::detached);
        co_await zk.connect();
        CHECK(zk.session_id() != 0);
        co_await eventually(
            [&] { return wrong.accepted() >= 3 && log.count(log_code::unsuitable_server) > 0; });
        CHECK(alone.state() == client_state::connecting);
        const auto line = log.first(log_code::unsuitable_server);
        CHECK(line.text.starts_with("the server " + wrong.address() + " cannot be used: "));
    }
}
