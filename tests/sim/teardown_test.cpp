// Coroutines that use the locks are stopped after n handlers, for every n, and destroyed with their
// event loop: no destroyed object is ever used. (The sanitizers check.)

#include "session/make_core.hpp"
#include "sim/c_client.hpp"
#include "sim/host.hpp"
#include "sim/timeline.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace paddock;
using namespace paddock::test::sim;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

ensemble_options one_server(bool encrypted) {
    ensemble_options o;
    o.servers = 1;
    o.encrypted = encrypted;
    return o;
}

/// One healthy server, and one process, in which all clients of a scenario live.
struct stage {
    explicit stage(bool encrypted)
        : servers(time, chance, one_server(encrypted)), here(std::make_shared<host>(servers, "A")) {
        here->hasty = true; // one handler at a time
    }
    ~stage() { here->end(); }

    client connect() {
        paddock::detail::world outside{make_environment(here),
                                       [here = here] { return std::make_unique<c_client>(here); },
                                       &timeline::latest_now,
                                       {"teardown", 1000}};
        return paddock::detail::access::make<client>(paddock::detail::make_core(
            here->io().get_executor(), std::move(outside), "10.0.0.1:2181", {}));
    }

    timeline time;
    dice chance{1};
    ensemble servers;
    std::shared_ptr<host> here;
};

using scenario = asio::awaitable<void> (*)(stage&);

/// Begins `other` beside the caller, which goes on when it is over.
struct beside {
    beside(stage& s, asio::awaitable<void> other) {
        asio::co_spawn(s.here->io(), std::move(other),
                       [over = over](std::exception_ptr) { *over = true; });
    }
    asio::awaitable<void> end(client& by) const {
        while (!*over)
            co_await by.exists("/");
    }
    std::shared_ptr<bool> over = std::make_shared<bool>(false);
};

asio::awaitable<void> take(mutex& m) {
    const guard g = co_await m.lock();
    REQUIRE(g.valid());
}

asio::awaitable<void> hand_over(stage& s) {
    client x = s.connect(), y = s.connect();
    mutex a(x, "/locks/a"), b(y, "/locks/a"), c(y, "/locks/a");
    guard g = co_await a.lock();
    const beside one(s, take(b)), two(s, take(c));
    co_await x.sync("/");
    co_await g.unlock();
    co_await one.end(x);
    co_await two.end(x);
    co_await y.close();
}

asio::awaitable<void> run_out_of_time(stage& s) {
    client x = s.connect(), y = s.connect();
    mutex a(x, "/locks/a"), b(y, "/locks/a");
    const guard g = co_await a.lock();
    const guard none = co_await b.try_lock_for(5ms);
    REQUIRE_FALSE(none);
    const guard neither = co_await b.try_lock();
    REQUIRE_FALSE(neither);
}

asio::awaitable<void> cancel(stage& s) {
    client x = s.connect(), y = s.connect();
    mutex a(x, "/locks/a"), b(y, "/locks/a");
    const guard g = co_await a.lock();
    co_await (b.lock() || y.exists("/"));
    co_await (g.lost() || y.exists("/"));
    co_await x.remove(std::string(g.path()), any_version);
    const auto why = co_await (g.lost() || y.next_state(client_state::connected));
    REQUIRE(why.index() == 0);
}

asio::awaitable<void> read_and_write(stage& s) {
    client x = s.connect(), y = s.connect();
    shared_mutex a(x, "/locks/a"), b(y, "/locks/a");
    guard writer = co_await a.lock();
    co_await writer.downgrade();
    const guard reader = co_await b.lock_shared();
    co_await writer.unlock();
}

asio::awaitable<void> permits(stage& s) {
    client x = s.connect(), y = s.connect();
    semaphore a(x, "/locks/a", 2), b(y, "/locks/a", 2);
    guard both = co_await a.acquire(2);
    const guard none = co_await b.try_acquire_for(1, 5ms);
    REQUIRE_FALSE(none);
    co_await both.unlock();
    const guard one = co_await b.acquire();
}

asio::awaitable<void> simple(stage& s) {
    client x = s.connect(), y = s.connect();
    simple_mutex a(x, "/locks/a"), b(y, "/locks/a");
    guard g = co_await a.lock();
    const guard none = co_await b.try_lock_for(5ms);
    REQUIRE_FALSE(none);
    co_await g.unlock();
    const guard next = co_await b.lock();
}

asio::awaitable<void> again(stage& s) {
    client x = s.connect();
    recursive_mutex a(x, "/locks/a");
    const owner me;
    const guard once = co_await a.lock(me);
    const guard twice = co_await a.lock(me);
}

asio::awaitable<void> write_and_read(stage& s) {
    client x = s.connect(), y = s.connect();
    recursive_shared_mutex a(x, "/locks/a"), b(y, "/locks/a");
    const owner me;
    guard writes = co_await a.lock(me);
    const guard reads = co_await a.lock_shared(me);
    co_await writes.unlock();
    const guard other = co_await b.lock_shared(me);
}

asio::awaitable<void> all_of_them(stage& s) {
    client x = s.connect();
    const std::vector<mutex> two{mutex(x, "/locks/b"), mutex(x, "/locks/a")};
    guard_set both = co_await lock_all(two);
    co_await both.unlock();
}

asio::awaitable<void> lead(stage& s) {
    client x = s.connect(), y = s.connect();
    election a(x, "/locks/a"), b(y, "/locks/a");
    const guard leads = co_await a.campaign();
    co_await (b.campaign() || y.exists("/"));
    static_cast<void>(co_await b.leader());
    static_cast<void>(co_await b.participants());
}

asio::awaitable<void> a_place(stage& s) {
    client x = s.connect(), y = s.connect();
    mutex a(x, "/locks/a"), b(y, "/locks/a");
    guard g = co_await a.lock();
    ticket t = co_await b.enqueue();
    static_cast<void>(co_await t.holder());
    co_await g.unlock();
    const guard mine = co_await t.acquired();
}

asio::awaitable<void> a_permit_later(stage& s) {
    client x = s.connect(), y = s.connect();
    semaphore a(x, "/locks/a", 2), b(y, "/locks/a", 2);
    guard g = co_await a.acquire();
    ticket t = co_await b.enqueue(2);
    const ticket behind = co_await b.enqueue();
    static_cast<void>(co_await t.holder());
    co_await g.unlock();
    const guard mine = co_await t.acquired();
}

asio::awaitable<void> work(stage& s) {
    client x = s.connect();
    mutex a(x, "/locks/a");
    guard g = co_await a.lock();
    co_await g.run([&x]() -> asio::awaitable<void> { co_await x.exists("/"); });
    co_await g.verify();
    std::vector<operation> write{op::create{"/data", "new", create_mode::persistent, open_acl()}};
    co_await g.transaction(std::move(write));
    auto lost = [&]() -> asio::awaitable<void> {
        co_await x.remove(std::string(g.path()), any_version);
        co_await x.next_state(client_state::connected); // for ever, but for the loss
    };
    try {
        co_await g.run(lost);
    } catch (const system_error&) {
    }
}

/// Runs a scenario until so many handlers have run, or its end; returns how many that were.
std::uint64_t play(scenario what, bool encrypted, std::uint64_t handlers, bool& ended) {
    stage s(encrypted);
    s.here->stop_at(handlers);
    const auto over = std::make_shared<bool>(false);
    std::exception_ptr failure;
    asio::co_spawn(s.here->io(), what(s), [&failure, over](std::exception_ptr escaped) {
        failure = escaped;
        *over = true;
    });
    s.here->wake();
    while (!*over && s.here->task() < handlers && s.time.step()) {
    }
    ended = *over;
    if (failure) std::rethrow_exception(failure);
    return s.here->task();
}

void play_to_each_moment(const std::string& name, scenario what, bool encrypted) {
    CAPTURE(name);
    CAPTURE(encrypted);
    bool ended = false;
    const auto whole = play(what, encrypted, ~std::uint64_t{0}, ended);
    REQUIRE(ended);
    REQUIRE(whole > 10);
    for (std::uint64_t n = 0; n < whole; ++n)
        play(what, encrypted, n, ended);
    MESSAGE(name << ": " << whole << " moments");
}

std::ptrdiff_t open_descriptors() {
    using files = std::filesystem::directory_iterator;
    return std::distance(files("/proc/self/fd"), files());
}

} // namespace

TEST_CASE("all operations can be destroyed at every moment") {
    static const std::pair<std::string, scenario> all[] = {{"hand over", hand_over},
                                                           {"run out of time", run_out_of_time},
                                                           {"cancel", cancel},
                                                           {"read and write", read_and_write},
                                                           {"permits", permits},
                                                           {"simple", simple},
                                                           {"again", again},
                                                           {"write and read", write_and_read},
                                                           {"all of them", all_of_them},
                                                           {"lead", lead},
                                                           {"a place", a_place},
                                                           {"a permit later", a_permit_later},
                                                           {"work", work}};
    const auto descriptors = open_descriptors();
    for (const bool encrypted : {false, true})
        for (const auto& [name, what] : all)
            play_to_each_moment(name, what, encrypted);
    CHECK(open_descriptors() == descriptors);
}
