// What a client logs about trouble, and where.

#include "client_support.hpp"
#include "support/captured_clog.hpp"
#include "support/ports.hpp"

#include <paddock/mutex.hpp>

#include <algorithm>
#include <stdexcept>

using namespace paddock;
using namespace paddock::test;

namespace {

std::size_t count(const std::vector<std::string>& lines, std::string_view begin) {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(begin); }));
}

constexpr std::string_view refuses = " refuses connections: no server listens there";

} // namespace

CO_TEST("a client that reaches no server says so on std::clog, with the reason") {
    const reserved_port unused;
    const auto address = "127.0.0.1:" + std::to_string(unused.number());
    const captured_clog clog;
    client zk(executor, address);
    tally all;
    zk.connect(all.expect());
    co_await eventually([&] { return clog.lines().size() >= 2; });
    const auto lines = clog.lines();
    CHECK(count(lines, "paddock: no server of " + address + " answers: check the server list") ==
          1);
    CHECK(count(lines, "paddock: " + address + std::string(refuses) + " [c_client]") == 1);
    CHECK(clog.text().find("ZOO_ERROR") == std::string::npos);
    CHECK(all.completions() == 0);
}

CO_TEST("a client in normal operation writes nothing") {
    const captured_clog clog;
    client zk(executor, shared_server().address());
    paddock::mutex one(zk, fresh_root() + "/lock");
    for (int n = 0; n < 3; ++n) {
        auto hold = co_await one.lock();
        co_await hold.unlock();
    }
    const auto missing = co_await zk.get(fresh_root(), no_throw);
    CHECK(std::get<0>(missing) == zk_errc::no_node);
    co_await zk.close();
    CHECK(clog.text() == "");
}

CO_TEST("with a log, ERROR lines of the C client go to the log of their client") {
    const captured_clog clog;
    const reserved_port unused;
    const auto of_dead = std::make_shared<std::vector<std::string>>();
    const auto of_alive = std::make_shared<std::vector<std::string>>();
    client_options dead_options, alive_options;
    dead_options.log = [of_dead](std::string_view what) { of_dead->emplace_back(what); };
    alive_options.log = [of_alive](std::string_view what) { of_alive->emplace_back(what); };
    client alive(executor, shared_server().address(), alive_options);
    const auto address = "127.0.0.1:" + std::to_string(unused.number());
    client dead(executor, address, dead_options);
    tally all;
    dead.connect(all.expect());
    co_await alive.connect();
    co_await eventually([&] { return count(*of_dead, address + std::string(refuses)) == 1; });
    for (int n = 0; n < 20; ++n)
        co_await alive.exists("/");
    CHECK(of_alive->empty());
    CHECK(clog.text() == "");
}

CO_TEST("a lost connection is logged once, and its end, and one dropped on purpose is not") {
    const auto log =
        std::make_shared<std::vector<std::string>>(); // the client may outlive the test
    client_options options;
    options.log = [log](std::string_view what) { log->emplace_back(what); };
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), options);
    co_await zk.connect();
    CHECK(log->empty());
    proxy.cut_all(cut::rst);
    co_await eventually([&] { return !log->empty(); }); // the next connection may be up by now
    CHECK(count(*log, proxy.address() + " reset the connection: ") == 1);
    co_await zk.connect();
    CHECK(count(*log, "the server " + proxy.address() + " answers after ") == 1);
    co_await zk.close();
    CHECK(log->size() == 2);
}

CO_TEST("the log says that an outage is over, and that a session has expired") {
    const auto log = std::make_shared<std::vector<std::string>>();
    client_options options;
    options.log = [log](std::string_view what) { log->emplace_back(what); };
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address(), options);
    tally all;
    zk.connect(all.expect());
    co_await eventually([&] { return count(*log, "no server of ") > 0; });
    CHECK(count(*log, "the server " + proxy.address() + " answers after ") == 0);
    proxy.refuse(false);
    co_await eventually([&] { return all.all_once(); });
    CHECK(log->back().starts_with("the server " + proxy.address() + " answers after "));

    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return zk.epoch() == 2; });
    CHECK(count(*log, "the session has expired: ") == 1);
    CHECK(count(*log, "the server " + proxy.address() + " answers after ") == 1);
    co_await zk.close();
}

CO_TEST("a log that throws does not end the process, and the client connects all the same") {
    const captured_clog clog;
    client_options options;
    const auto told = std::make_shared<int>(0);
    options.log = [told](std::string_view) {
        ++*told;
        throw std::runtime_error("no log");
    };
    fault_proxy proxy(shared_server().port());
    proxy.refuse(true);
    client zk(executor, proxy.address(), options);
    tally all;
    zk.connect(all.expect());
    co_await eventually([&] { return *told >= 2; });
    proxy.refuse(false);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say({}));
    CHECK(clog.text().find("paddock: ") == 0);
}
