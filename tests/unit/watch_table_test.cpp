// Which paths have waiters, and which watches the ensemble has for them.

#include "session/rearming_watch.hpp"
#include "support/session_stage.hpp"

using namespace paddock;
using namespace paddock::test;
using words = std::vector<std::string>;

namespace {

struct watch_stage : session_stage {
    using session_stage::session_stage;

    detail::watch_table::waiter_id add(const std::string& path,
                                       detail::watch_kind kind = detail::watch_kind::data) {
        return core->watches().add(path, kind, [](auto...) {});
    }
    /// As add(); the read was answered.
    detail::watch_table::waiter_id wait_for(const std::string& path) {
        const auto id = add(path);
        core->watches().armed(path, id);
        return id;
    }
    void drop(const std::string& path, detail::watch_table::waiter_id which) {
        core->watches().drop(path, which);
        env->run();
    }
};

} // namespace

TEST_CASE("the last waiter that leaves removes the watch") {
    watch_stage s;
    const auto one = s.wait_for("/a"), other = s.wait_for("/a");
    s.drop("/a", one);
    CHECK(s.asked().empty());
    s.drop("/a", other);
    CHECK(s.asked() == words{"remove_watches /a"});
    s.answer();
    CHECK(s.asked().empty());
}

TEST_CASE("a waiter that leaves before its read is answered removes nothing until then") {
    watch_stage s;
    const auto id = s.add("/a");
    s.drop("/a", id);
    CHECK(s.asked().empty());
    SUBCASE("the read has set a watch") {
        s.core->watches().armed("/a", id);
        s.env->run();
        CHECK(s.asked() == words{"remove_watches /a"});
    }
    SUBCASE("another waiter has come, and needs the watch until it leaves") {
        const auto other = s.add("/a");
        s.core->watches().armed("/a", id);
        s.env->run();
        CHECK(s.asked().empty());
        s.drop("/a", other);
        CHECK(s.asked() == words{"remove_watches /a"});
    }
}

TEST_CASE("a watch is removed by the last waiter, even if another waiter's read has set it") {
    watch_stage s;
    const auto one = s.wait_for("/a"), other = s.add("/a");
    s.drop("/a", one);
    CHECK(s.asked().empty());
    s.drop("/a", other);
    CHECK(s.asked() == words{"remove_watches /a"});
}

TEST_CASE("an event removes the watches of other kinds that no waiter needs any more") {
    watch_stage s;
    auto& table = s.core->watches();
    const auto children = s.add("/a", detail::watch_kind::children);
    table.armed("/a", children);
    s.wait_for("/a");
    s.drop("/a", children);
    SUBCASE("that the event does not end") {
        table.on_event(native::watch_type::changed, "/a");
        s.env->run();
        CHECK(s.asked() == words{"remove_watches /a"});
    }
    SUBCASE("but not those that it ends") {
        table.on_event(native::watch_type::deleted, "/a");
        s.env->run();
        CHECK(s.asked().empty());
    }
}

TEST_CASE("a watch whose removal was lost with the connection is removed later") {
    watch_stage s;
    s.drop("/a", s.wait_for("/a"));
    CHECK(s.asked() == words{"remove_watches /a"});
    s.lose_connection();
    SUBCASE("on the next connection") {
        s.reconnect();
        CHECK(s.asked() == words{"remove_watches /a"});
    }
    SUBCASE("unless a new waiter needs it") {
        const auto later = s.add("/a");
        s.reconnect();
        CHECK(s.asked().empty());
        s.drop("/a", later);
        CHECK(s.asked() == words{"remove_watches /a"});
    }
}

TEST_CASE("a removal that a later watch made needless is not repeated when that watch ends") {
    watch_stage s;
    s.lose_connection();
    s.drop("/a", s.wait_for("/a"));
    const auto later = s.wait_for("/a");
    s.env->hold_tasks(); // and with them the answer "not sent"
    s.reconnect();
    CHECK(s.asked().empty());
    s.core->watches().drop("/a", later);
    s.env->let_tasks_run();
    s.env->run();
    CHECK(s.asked() == words{"remove_watches /a"});
}

TEST_CASE("the watches of a session end with it") {
    watch_stage s;
    s.drop("/a", s.wait_for("/a"));
    s.asked();
    s.c->complete_all(static_cast<int>(zk_errc::session_expired));
    s.env->run();
    CHECK(s.asked().empty());
}

TEST_CASE("a failed read removes the watch that an earlier read has set") {
    watch_stage s;
    const auto looks = std::make_shared<detail::rearming_watch>(
        s.core->watches(), "/a", detail::watch_kind::data, [](auto) {});
    const auto once = looks->set();
    CHECK(looks->answered(once, true));
    CHECK(looks->set() == once);
    CHECK_FALSE(looks->answered(once, false));
    s.env->run();
    CHECK(s.asked() == words{"remove_watches /a"});
}

TEST_CASE("a path counts for each kind of its watches, until no waiter is left") {
    using detail::watch_kind;
    client_options options;
    options.budgets.watched_path_bytes = 1024;
    watch_stage s(options);
    auto& table = s.core->watches();
    const auto path = '/' + std::string(299, 'x'), other = '/' + std::string(299, 'y');
    const auto one = s.add(path), two = s.add(path);
    CHECK(table.bytes() == 304);
    const auto three = s.add(path, watch_kind::children), four = s.add(path, watch_kind::existence);
    CHECK(table.bytes() == 3 * 304);
    CHECK(table.room_for(path, watch_kind::children));
    CHECK_FALSE(table.room_for(other, watch_kind::children));
    for (const auto gone : {one, two, three})
        s.drop(path, gone);
    CHECK(table.bytes() == 3 * 304);
    s.drop(path, four);
    CHECK(table.bytes() == 0);
    CHECK(table.room_for(other, watch_kind::data));
}

TEST_CASE("all watches fit into one request of the size that servers accept") {
    client_options options;
    options.max_request_bytes = 256 * 1024;
    watch_stage s(options);
    auto& table = s.core->watches();
    CHECK(table.room_for(std::string(255 * 1024, 'x'), detail::watch_kind::data));
    CHECK_FALSE(table.room_for(std::string(256 * 1024, 'x'), detail::watch_kind::data));
}
