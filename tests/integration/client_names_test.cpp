// Names that resolve slowly: this program has its own getaddrinfo, which Asio's resolver calls.

#include "support/pump_harness.hpp"
#include "support/zk_server.hpp"

#include <paddock/client.hpp>

#include <boost/asio/detached.hpp>

#include <algorithm>
#include <condition_variable>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>

using namespace paddock;
using namespace paddock::test;

namespace {

/// Which names are looked up, and which of them wait. All of them resolve to 127.0.0.1.
class name_service {
public:
    void hold(const std::string& name) {
        const std::lock_guard lock(mutex_);
        held_.push_back(name);
    }
    void let_go() {
        const std::lock_guard lock(mutex_);
        held_.clear();
        asked_.clear();
        changed_.notify_all();
    }
    bool was_asked(const std::string& name) {
        const std::lock_guard lock(mutex_);
        return std::find(asked_.begin(), asked_.end(), name) != asked_.end();
    }
    void look_up(const std::string& name) {
        std::unique_lock lock(mutex_);
        asked_.push_back(name);
        changed_.wait(lock,
                      [&] { return std::find(held_.begin(), held_.end(), name) == held_.end(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> asked_, held_;
};

name_service names;

/// The names wait as long as it exists.
struct slow_names {
    explicit slow_names(const std::vector<std::string>& all) {
        for (const auto& name : all)
            names.hold(name);
    }
    ~slow_names() { names.let_go(); }
};

std::string with_port(const std::string& name) {
    return name + ':' + std::to_string(shared_server().port());
}

} // namespace

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
    static const auto real =
        reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const std::string name(host != nullptr ? host : "");
    if (!name.ends_with(".test")) return real(host, service, hints, found);
    names.look_up(name);
    return real("127.0.0.1", service, hints, found);
}

TEST_CASE("addresses are tried while a name is being looked up") {
    asio::io_context io(1);
    client zk(io.get_executor(), with_port("slow.test") + ',' + shared_server().address());
    {
        const slow_names slow({"slow.test"});
        zk.connect(asio::detached);
        REQUIRE(run_until(io, [&] { return zk.state() == client_state::connected; }));
        REQUIRE(run_until(io, [&] { return names.was_asked("slow.test"); }));
    }
    zk.close(asio::detached);
    io.restart();
    io.run();
}

TEST_CASE("a name is tried while the one behind it is being looked up") {
    asio::io_context io(1);
    // In random order: with four of five at least one is known before the slow one in most runs,
    // and otherwise the slow one is answered.
    std::string list = with_port("slow.test");
    for (const auto* const name : {"a.test", "b.test", "c.test", "d.test"})
        list += ',' + with_port(name);
    int before_the_slow_one = 0;
    for (int n = 0; n < 20; ++n) {
        client zk(io.get_executor(), list);
        {
            const slow_names slow({"slow.test"});
            zk.connect(asio::detached);
            REQUIRE(run_until(io, [&] { return names.was_asked("slow.test"); }));
            if (names.was_asked("a.test") || names.was_asked("b.test") ||
                names.was_asked("c.test") || names.was_asked("d.test")) {
                ++before_the_slow_one;
                REQUIRE(run_until(io, [&] { return zk.state() == client_state::connected; }));
            }
        }
        REQUIRE(run_until(io, [&] { return zk.state() == client_state::connected; }));
        zk.close(asio::detached);
        io.restart();
        io.run();
        names.let_go();
    }
    CHECK(before_the_slow_one > 0);
}

TEST_CASE("close is done while a name is being looked up, and no other name is after it") {
    asio::io_context io(1);
    client one(io.get_executor(), with_port("slow.test"));
    client other(io.get_executor(), with_port("never.test"));
    {
        const slow_names slow({"slow.test"});
        one.connect(asio::detached);
        REQUIRE(run_until(io, [&] { return names.was_asked("slow.test"); }));
        other.connect(asio::detached);
        run_for(io, 20ms); // its name waits for the resolver's thread
        int done = 0;
        one.close([&](error_code) { ++done; });
        other.close([&](error_code) { ++done; });
        CHECK(run_until(io, [&] { return done == 2; }));
    }
    io.restart();
    io.run(); // returns now that the look-up under way is done
    CHECK_FALSE(names.was_asked("never.test"));
    CHECK(one.state() == client_state::closed);
}
