// The way to the ensemble: who goes first, how much at a time, and what becomes of what was not
// sent.

#include "support/session_stage.hpp"

#include <optional>

using namespace paddock;
using namespace paddock::test;
using detail::lane;
using words = std::vector<std::string>;

namespace {

client_options window_of(std::size_t requests, std::size_t bytes = 1'000'000) {
    client_options options;
    options.budgets.requests_in_flight = requests;
    options.budgets.request_bytes_in_flight = bytes;
    return options;
}

struct gate_stage : session_stage {
    using session_stage::session_stage;

    std::shared_ptr<std::optional<int>> submit(lane which, const std::string& path,
                                               std::size_t bytes = 1) {
        auto result = std::make_shared<std::optional<int>>();
        core->gate().submit(
            which, detail::answered_by::server, bytes,
            [path](native::calls& table, std::unique_ptr<native::completion> done) {
                return table.exists(path, false, std::move(done));
            },
            [result](const native::reply& r) {
                CHECK_FALSE(*result);
                *result = r.rc;
            });
        return result;
    }
};

} // namespace

TEST_CASE("while the line's window is full its requests wait, and all others pass") {
    gate_stage s(window_of(2));
    for (const auto* path : {"/l1", "/l2", "/l3", "/l4"})
        s.submit(lane::line, path);
    CHECK(s.asked() == words{"exists /l1", "exists /l2"});
    s.submit(lane::user, "/u");
    s.submit(lane::urgent, "/d");
    CHECK(s.asked() == words{"exists /u", "exists /d"});
    s.answer();
    CHECK(s.asked() == words{"exists /l3"});
}

TEST_CASE("the window counts bytes too, and lets one request through that is larger than it") {
    gate_stage s(window_of(100, 50));
    s.submit(lane::line, "/large", 80);
    s.submit(lane::line, "/small", 10);
    CHECK(s.asked() == words{"exists /large"});
    s.answer();
    CHECK(s.asked() == words{"exists /small"});
}

TEST_CASE("after a reconnect the urgent go first, then the application") {
    gate_stage s;
    s.lose_connection();
    s.submit(lane::user, "/u");
    s.submit(lane::urgent, "/d");
    s.asked();
    s.reconnect();
    CHECK(s.asked() == words{"exists /d", "exists /u"});
}

TEST_CASE("a line's request that was not sent is told so when the connection is lost") {
    gate_stage s(window_of(1));
    const auto sent = s.submit(lane::line, "/sent");
    const auto unsent = s.submit(lane::line, "/unsent");
    s.lose_connection();
    CHECK(*sent == native::code::connection_loss);
    CHECK(*unsent == native::code::invalid_state);
    const auto later = s.submit(lane::line, "/later");
    CHECK_FALSE(*later); // never from within
    s.env->run();
    CHECK(*later == native::code::invalid_state);
    s.asked();
    s.reconnect();
    CHECK(s.asked().empty());
}

TEST_CASE("a request that nobody wants any more is not sent, and not answered") {
    gate_stage s(window_of(1));
    s.submit(lane::line, "/first");
    bool answered = false;
    s.core->gate().submit(
        lane::line, detail::answered_by::server, 1,
        [](native::calls&, std::unique_ptr<native::completion>) { return detail::gate::unwanted; },
        [&](const native::reply&) { answered = true; });
    const auto behind = s.submit(lane::line, "/behind");
    s.asked();
    s.answer();
    CHECK(s.asked() == words{"exists /behind"});
    s.answer();
    CHECK(*behind == native::code::ok);
    CHECK_FALSE(answered);
}

TEST_CASE("a request that the C client does not take is answered with its code, not from within") {
    gate_stage s;
    std::optional<int> rc;
    s.core->gate().submit(
        lane::user, detail::answered_by::server, 0,
        [](native::calls&, std::unique_ptr<native::completion>) { return -8; },
        [&](const native::reply& r) { rc = r.rc; });
    CHECK_FALSE(rc);
    s.env->run();
    CHECK(rc == -8);
}

TEST_CASE("closing answers everything, sent or not, exactly once") {
    gate_stage s(window_of(1));
    const auto sent = s.submit(lane::line, "/sent");
    const auto unsent = s.submit(lane::line, "/unsent");
    const auto user = s.submit(lane::user, "/user");
    s.core->close(errc::closed);
    s.env->run();
    for (const auto& result : {sent, unsent, user})
        CHECK(*result == native::code::closing);
    const auto later = s.submit(lane::user, "/later");
    s.env->run();
    CHECK(*later == native::code::closing);
}
