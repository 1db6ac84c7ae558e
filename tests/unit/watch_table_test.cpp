// Who waits for which path, and what the ensemble is told of it.

#include "session/lookout.hpp"
#include "support/session_stage.hpp"

using namespace paddock;
using namespace paddock::test;
using words = std::vector<std::string>;

namespace {

struct watch_stage : session_stage {
    detail::watch_table::waiter wait_for(const std::string& path) {
        return core->watches().add(path, detail::watch_kind::data, [](auto...) {});
    }
    void drop(const std::string& path, detail::watch_table::waiter who) {
        core->watches().drop(path, who);
        env->run();
    }
};

} // namespace

TEST_CASE("the last one who does not wait any more takes the watch away") {
    watch_stage s;
    const auto one = s.wait_for("/a"), other = s.wait_for("/a");
    s.drop("/a", one);
    CHECK(s.asked().empty());
    s.drop("/a", other);
    CHECK(s.asked() == words{"remove_watches /a"});
    s.answer();
    CHECK(s.asked().empty());
}

TEST_CASE("a watch that was not taken away because the connection was lost is taken away later") {
    watch_stage s;
    s.drop("/a", s.wait_for("/a"));
    CHECK(s.asked() == words{"remove_watches /a"});
    s.lose_connection();
    SUBCASE("on the next connection") {
        s.reconnect();
        CHECK(s.asked() == words{"remove_watches /a"});
    }
    SUBCASE("unless somebody waits again") {
        s.wait_for("/a");
        s.reconnect();
        CHECK(s.asked().empty());
    }
}

TEST_CASE("what a session has watched ends with it") {
    watch_stage s;
    s.drop("/a", s.wait_for("/a"));
    s.asked();
    s.c->complete_all(static_cast<int>(zk_errc::session_expired));
    s.env->run();
    CHECK(s.asked().empty());
}

TEST_CASE("a read that fails takes away the watch that an earlier one has set") {
    watch_stage s;
    const auto looks = std::make_shared<detail::lookout>(s.core->watches(), "/a",
                                                         detail::watch_kind::data, [](auto) {});
    const auto once = looks->set();
    CHECK(looks->answered(once, true));
    CHECK(looks->set() == once);
    CHECK_FALSE(looks->answered(once, false));
    s.env->run();
    CHECK(s.asked() == words{"remove_watches /a"});
}
