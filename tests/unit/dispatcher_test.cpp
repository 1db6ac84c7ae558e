// The dispatcher: the order of requests, their window, and the answers to unsent requests.

#include "support/session_stage.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using detail::lane;
namespace requests = detail::requests;
using words = std::vector<std::string>;

namespace {

client_options window_of(std::size_t requests, std::size_t bytes = 1'000'000) {
    client_options options;
    options.budgets.requests_in_flight = requests;
    options.budgets.request_bytes_in_flight = bytes;
    return options;
}

struct dispatcher_stage : session_stage {
    using session_stage::session_stage;

    std::shared_ptr<std::optional<int>> submit(lane which, const std::string& path) {
        auto result = std::make_shared<std::optional<int>>();
        core->dispatcher().submit(which, requests::exists{path}, [result](const native::reply& r) {
            CHECK_FALSE(*result);
            *result = r.rc;
        });
        return result;
    }
};

/// Gets the event that a connection is up.
struct connection_listener final : detail::session_listener {
    explicit connection_listener(std::function<void()> heard) : connected(std::move(heard)) {}
    void on_connected() override { connected(); }
    std::function<void()> connected;
};

} // namespace

TEST_CASE("while the window of lock work is full, lock work waits and other requests pass") {
    dispatcher_stage s(window_of(2));
    for (const auto* path : {"/l1", "/l2", "/l3", "/l4"})
        s.submit(lane::lock_work, path);
    CHECK(s.asked() == words{"exists /l1", "exists /l2"});
    s.submit(lane::user, "/u");
    s.submit(lane::urgent, "/d");
    CHECK(s.asked() == words{"exists /d", "exists /u"});
    s.answer();
    CHECK(s.asked() == words{"exists /l3"});
}

TEST_CASE("the window counts bytes too, and admits one request that is larger than the window") {
    const auto large = "/large" + std::string(100, 'x');
    dispatcher_stage s(window_of(100, 80));
    REQUIRE(detail::bytes_of(requests::exists{large}) > 80);
    s.submit(lane::lock_work, large);
    s.submit(lane::lock_work, "/small");
    CHECK(s.asked() == words{"exists " + large});
    s.answer();
    CHECK(s.asked() == words{"exists /small"});
}

TEST_CASE("after a reconnect urgent requests go first, then the application's") {
    dispatcher_stage s;
    s.lose_connection();
    s.submit(lane::user, "/u");
    s.submit(lane::urgent, "/d");
    s.asked();
    s.reconnect();
    CHECK(s.asked() == words{"exists /d", "exists /u"});
}

TEST_CASE("an unsent request of lock work is answered as not sent when the connection is lost") {
    dispatcher_stage s(window_of(1));
    const auto sent = s.submit(lane::lock_work, "/sent");
    const auto unsent = s.submit(lane::lock_work, "/unsent");
    s.lose_connection();
    CHECK(*sent == native::code::connection_loss);
    CHECK(*unsent == native::code::invalid_state);
    const auto later = s.submit(lane::lock_work, "/later");
    CHECK_FALSE(*later); // never from within
    s.env->run();
    CHECK(*later == native::code::invalid_state);
    s.asked();
    s.reconnect();
    CHECK(s.asked().empty());
}

TEST_CASE("while the connection is being lost no request is forgotten or answered too late") {
    dispatcher_stage s;
    s.env->hold_tasks();
    s.c->accepts = false;
    s.c->next_send_fails = true; // the C client closes the connection silently
    s.submit(lane::user, "/last");
    s.core->dispatcher().send();
    REQUIRE(s.core->state() == client_state::connected);
    const auto sent = s.c->log.size();
    const auto queue = s.submit(lane::lock_work, "/l");
    const auto user = s.submit(lane::user, "/u");
    const auto urgent = s.submit(lane::urgent, "/d");
    s.asked();
    CHECK(s.c->log.size() == sent);
    REQUIRE(s.core->state() == client_state::suspended);
    CHECK(*queue == native::code::invalid_state);
    s.reconnect();
    s.env->let_tasks_run();
    CHECK(s.asked() == words{"exists /d", "exists /u"});
    s.answer();
    s.answer();
    CHECK(*user == native::code::ok);
    CHECK(*urgent == native::code::ok);
}

TEST_CASE("unsent requests are answered before listeners are told of the next connection") {
    dispatcher_stage s;
    s.env->hold_tasks();
    std::optional<int> refused;
    std::vector<std::optional<int>> known; // at the time of on_connected()
    SUBCASE("submitted without a connection") {
        s.lose_connection();
        const auto later = s.submit(lane::lock_work, "/later");
        const auto hears = std::make_shared<connection_listener>([&] { known.push_back(*later); });
        s.core->listen(hears);
        s.env->run();
        CHECK_FALSE(*later); // its task waits
        s.reconnect();
        refused = *later;
    }
    SUBCASE("refused by the C client") {
        s.c->refused = 1;
        s.core->dispatcher().submit(lane::user, requests::exists{"/refused"},
                                    [&](const native::reply& r) { refused = r.rc; });
        const auto hears = std::make_shared<connection_listener>([&] { known.push_back(refused); });
        s.core->listen(hears);
        CHECK_FALSE(refused);
        s.lose_connection();
        s.reconnect();
    }
    CHECK(known == std::vector<std::optional<int>>{native::code::invalid_state});
    CHECK(refused == native::code::invalid_state);
    s.env->let_tasks_run(); // and not again
    s.env->run();
}

TEST_CASE("a request made from the answer of a refused one is sent on the next connection") {
    dispatcher_stage s;
    s.env->hold_tasks();
    s.lose_connection();
    s.core->dispatcher().submit(lane::lock_work, requests::exists{"/refused"},
                                [&](const native::reply&) { s.submit(lane::lock_work, "/again"); });
    s.asked();
    s.reconnect();
    CHECK(s.asked() == words{"exists /again"});
}

TEST_CASE("a request that is no longer wanted when its turn comes is answered as not sent") {
    dispatcher_stage s(window_of(1));
    s.submit(lane::lock_work, "/first");
    std::optional<int> answered;
    bool wanted = true;
    s.core->dispatcher().submit(
        lane::lock_work, requests::exists{"/unwanted"},
        [&](const native::reply& r) { answered = r.rc; }, [&] { return wanted; });
    wanted = false;
    const auto behind = s.submit(lane::lock_work, "/behind");
    s.asked();
    s.answer();
    CHECK(s.asked() == words{"exists /behind"});
    s.answer();
    CHECK(*behind == native::code::ok);
    CHECK(answered == native::code::invalid_state);
}

TEST_CASE(
    "a request that the C client refuses is answered with its code, and not from within submit") {
    dispatcher_stage s;
    std::optional<int> rc;
    s.c->refused = 1;
    s.core->dispatcher().submit(lane::user, requests::exists{"/refused"},
                                [&](const native::reply& r) { rc = r.rc; });
    CHECK_FALSE(rc);
    s.env->run();
    CHECK(rc == native::code::invalid_state);
}

TEST_CASE("close answers every request, sent or not, exactly once") {
    dispatcher_stage s(window_of(1));
    const auto sent = s.submit(lane::lock_work, "/sent");
    const auto unsent = s.submit(lane::lock_work, "/unsent");
    const auto user = s.submit(lane::user, "/user");
    s.core->close(errc::closed);
    s.env->run();
    for (const auto& result : {sent, unsent, user})
        CHECK(*result == native::code::closing);
    const auto later = s.submit(lane::user, "/later");
    s.env->run();
    CHECK(*later == native::code::closing);
}

TEST_CASE("close answers requests in flight, and ignores later answers of the C client") {
    dispatcher_stage s;
    const auto sent = s.submit(lane::lock_work, "/sent");
    const auto reads = s.submit(lane::user, "/read");
    CHECK(s.asked() == words{"exists /sent", "exists /read"});
    s.core->dispatcher().close();
    CHECK(*sent == native::code::closing);
    CHECK(*reads == native::code::closing);
    s.answer();
    s.answer();
}
