// A try_lock while the connection is being lost.

#include "support/session_stage.hpp"

#include <paddock/client.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/mutex.hpp>

#include <optional>
#include <tuple>

using namespace paddock;
using namespace paddock::test;

TEST_CASE("a try_lock while the connection is being lost does not wait for the next connection") {
    session_stage s;
    const auto zk = detail::access::make<client>(s.core);
    mutex lock(zk, "/locks");
    std::optional<error_code> said;
    lock.try_lock([&](error_code why, guard) { said = why; }); // its task waits
    s.c->accepts = false;
    s.c->next_send_fails = true;
    s.core->dispatcher().submit(detail::lane::user, detail::requests::exists{"/last"},
                                [](const native::reply&) {});
    REQUIRE(s.core->state() == client_state::connected);
    s.env->run();
    REQUIRE(s.core->state() == client_state::suspended);
    s.io.poll();
    CHECK(said == error_code(errc::not_connected));
    s.reconnect();
    s.io.restart();
    s.io.poll();
}
