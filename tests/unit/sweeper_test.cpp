// The deletes that must happen, step by step.

#include "rules/names.hpp"
#include "support/session_stage.hpp"

#include <algorithm>
#include <optional>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

constexpr int no_auth = static_cast<int>(zk_errc::no_auth);
constexpr int no_node = static_cast<int>(zk_errc::no_node);

struct sweeper_stage : session_stage {
    using session_stage::session_stage;

    rules::node_id remove(const std::string& path, std::size_t bytes = 0) {
        const auto id = core->claims().claim();
        REQUIRE(core->node_budget().reserve(bytes));
        core->sweeper().remove(path, id, bytes);
        env->run();
        return id;
    }
    std::optional<error_code> gone;
    void wait_for(const std::string& path) {
        core->sweeper().when_deleted(path, [this](error_code why) { gone = why; });
    }
    std::string orphan(rules::node_id id) {
        return "_c_" + core->claims().text(id) + "-lock-0000000007";
    }
    long count(const words& all, const std::string& one) {
        return std::count(all.begin(), all.end(), one);
    }
};

} // namespace

TEST_CASE("a delete is sent once, and gives its id and its bytes back when it is answered") {
    sweeper_stage s;
    const auto id = s.remove("/a", 100);
    s.wait_for("/a");
    CHECK(s.asked() == words{"remove /a"});
    CHECK(s.core->claims().claimed(id));
    CHECK_FALSE(s.gone);
    error_code expected;
    SUBCASE("done") { s.answer(); }
    SUBCASE("there was nothing to delete") {
        s.answer(no_node);
        expected = errc::node_deleted;
    }
    CHECK(s.gone == expected);
    CHECK_FALSE(s.core->claims().claimed(id));
    CHECK(s.core->node_budget().used() == 0);
}

TEST_CASE("a repeated delete that finds nothing may have been the first one") {
    sweeper_stage s;
    s.remove("/a");
    s.wait_for("/a");
    s.lose_connection();
    s.reconnect();
    s.answer(no_node);
    CHECK(s.gone == error_code());
}

TEST_CASE("deletes of nodes that exist go together; one that is repeated goes alone") {
    sweeper_stage s;
    const auto all = [&](const words& paths) {
        for (const auto& path : paths)
            s.core->sweeper().remove(path, s.core->claims().claim(), 0);
    };
    all({"/a/1", "/b/2", "/b/3"});
    s.core->sweeper().remove("/a/4", s.core->claims().claim(), 0, false);
    CHECK(s.asked() == words{"multi /a/1 /b/2 /b/3", "remove /a/4"});
    SUBCASE("one was deleted by another client") {
        s.wait_for("/b/2");
        s.answer(no_node, 1);
        CHECK(s.gone == errc::node_deleted);
        CHECK(s.asked() == words{"remove /a/1", "remove /b/3"});
    }
    SUBCASE("the answer is lost") {
        s.lose_connection();
        s.asked();
        s.reconnect();
        auto asked = s.asked();
        std::sort(asked.begin(), asked.end());
        CHECK(asked == words{"remove /a/1", "remove /a/4", "remove /b/2", "remove /b/3"});
    }
}

TEST_CASE("a second call for the same path sends no second delete") {
    sweeper_stage s;
    s.remove("/a", 100);
    s.remove("/a", 50);
    CHECK(s.asked() == words{"remove /a"});
    CHECK(s.core->node_budget().used() == 100);
}

TEST_CASE("unanswered deletes of keyed nodes are told, those with directories last") {
    sweeper_stage s;
    auto& ids = s.core->claims();
    auto& sweeper = s.core->sweeper();
    sweeper.remove_with_directory("/k/c", ids.claim(), 0);
    sweeper.remove("/k/a", ids.claim(), 0, true, true);
    sweeper.remove_with_directory("/l/d", ids.claim(), 0);
    sweeper.remove("/m/b", ids.claim(), 0);
    using deletes = paddock::detail::requests::remove;
    const auto all = sweeper.unanswered_keyed();
    REQUIRE(all.size() == 3);
    CHECK(std::get<deletes>(all[0]).path == "/k/a");
    CHECK_FALSE(std::get<deletes>(all[0]).with_directory);
    CHECK(std::get<deletes>(all[1]).with_directory);
    CHECK(std::get<deletes>(all[2]).with_directory);
}

TEST_CASE("a lost delete is repeated after the reconnect, before the application's requests") {
    sweeper_stage s;
    s.remove("/a");
    s.lose_connection();
    s.core->dispatcher().submit(detail::lane::user, detail::requests::exists{"/mine"},
                                [](const native::reply&) {});
    s.remove("/b"); // was never sent
    s.asked();
    s.reconnect();
    auto asked = s.asked();
    REQUIRE(asked.size() == 3);
    CHECK(asked.back() == "exists /mine");
    std::sort(asked.begin(), asked.end());
    CHECK(asked == words{"exists /mine", "remove /a", "remove /b"});
}

TEST_CASE("a forbidden delete is reported at once, and tried again after growing pauses") {
    sweeper_stage s;
    s.remove("/a");
    s.wait_for("/a");
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
        CHECK(s.asked() == words{"remove /a"});
        s.answer(no_auth);
        CHECK(s.troubles.back().find("/a") != std::string::npos);
        CHECK(s.gone == zk_errc::no_auth);
        s.live(pause - 100ms);
        CHECK(s.asked().empty());
        s.live(200ms);
        s.wait_for("/a"); // another guard of the same node is told at once
    }
}

TEST_CASE("a delete with a temporary failure is tried again soon") {
    sweeper_stage s;
    s.remove("/a");
    s.asked();
    s.answer(static_cast<int>(zk_errc::throttled));
    CHECK(s.asked().empty());
    s.env->advance(1s);
    CHECK(s.count(s.asked(), "remove /a") == 1);
}

TEST_CASE("the end of the session ends every delete") {
    sweeper_stage s;
    s.remove("/a", 100);
    s.wait_for("/a");
    s.expire();
    CHECK(s.core->epoch() == 2);
    CHECK(s.gone == error_code());
    CHECK(s.core->node_budget().used() == 0);
}

TEST_CASE("a wait for a delete ends with outcome_unknown after two session timeouts") {
    sweeper_stage s;
    s.remove("/a");
    s.wait_for("/a");
    s.lose_connection();
    s.env->advance(17s);
    CHECK_FALSE(s.gone);
    s.env->advance(2s);
    CHECK(s.gone == error_code(errc::outcome_unknown));
    s.gone.reset();
    s.wait_for("/a");
    CHECK(s.gone == error_code(errc::outcome_unknown));
    s.asked();
    s.reconnect();
    CHECK(s.count(s.asked(), "remove /a") == 1); // the sweeper goes on all the same
}

TEST_CASE("a tainted directory is searched behind a barrier, and its orphans are deleted") {
    sweeper_stage s;
    const auto orphan = s.core->claims().claim();
    s.core->claims().release(orphan);
    const auto alive = s.core->claims().claim();
    s.core->sweeper().taint("/locks", 0);
    const auto asked = s.asked();
    REQUIRE(asked.size() == 2);
    CHECK(asked.front().starts_with("remove /locks/_c_"));
    CHECK(asked.back() == "children /locks");
    s.answer(no_node);
    s.answer_names({s.orphan(orphan), s.orphan(alive),
                    "_c_00000000-0000-0000-0000-000000000001-lock-1", "lock-0000000003"});
    CHECK(s.asked() == words{"remove /locks/" + s.orphan(orphan), "get /locks"});
}

// The listing waits for the next connection, and is answered after the reconnect.
TEST_CASE("a search whose barrier is lost with the connection begins again") {
    sweeper_stage s;
    const auto orphan = s.core->claims().claim();
    s.core->claims().release(orphan);
    s.c->next_send_fails = true; // of the barrier
    s.core->sweeper().taint("/locks", 0);
    s.env->run();
    s.reconnect();
    CHECK(s.count(s.asked(), "children /locks") == 1);
    s.answer_names({s.orphan(orphan)});
    CHECK(s.asked().empty()); // without its barrier the listing proves nothing
    s.env->advance(1s);
    CHECK(s.count(s.asked(), "children /locks") == 1);
    s.answer(no_node);
    s.answer_names({s.orphan(orphan)});
    CHECK(s.asked() == words{"remove /locks/" + s.orphan(orphan), "get /locks"});
}

TEST_CASE("a late create is found after every reconnect, and once a minute later") {
    sweeper_stage s;
    const auto late = s.core->claims().claim();
    s.core->claims().release(late);
    s.core->sweeper().taint("/locks", 0);
    s.answer(no_node);
    s.answer_names({}); // not there yet
    s.asked();

    SUBCASE("after a reconnect") {
        s.lose_connection();
        s.reconnect();
    }
    SUBCASE("a minute later") {
        s.live(59s);
        CHECK(s.count(s.asked(), "children /locks") == 0);
        s.live(2s);
    }
    CHECK(s.count(s.asked(), "children /locks") == 1);
    while (s.c->requests.size() > 1)
        s.answer(no_node); // pings of the pump, and the barrier
    s.answer_names({s.orphan(late)});
    CHECK(s.asked() == words{"remove /locks/" + s.orphan(late), "get /locks"});
}

TEST_CASE("a directory is not searched any more when the last search has been answered") {
    sweeper_stage s;
    const auto searched = [&] {
        s.env->run();
        while (s.c->requests.size() > 1)
            s.answer(no_node); // pings of the pump, and the barrier
        s.answer_names({});
    };
    s.core->sweeper().taint("/locks", 0);
    searched();
    s.live(61s);
    SUBCASE("a minute later") { searched(); }
    SUBCASE("or on the connection after that") {
        s.lose_connection();
        s.reconnect();
        searched();
    }
    s.asked();
    s.lose_connection();
    s.reconnect();
    CHECK(s.count(s.asked(), "children /locks") == 0);
    s.live(65s);
    CHECK(s.count(s.asked(), "children /locks") == 0);
    s.core->sweeper().taint("/locks", 0); // again
    CHECK(s.count(s.asked(), "children /locks") == 1);
}

TEST_CASE("of many tainted directories a few are searched at a time") {
    sweeper_stage s;
    s.lose_connection();
    for (int i = 0; i < 10; ++i)
        s.core->sweeper().taint("/locks" + std::to_string(i), 0);
    s.asked();
    s.reconnect();
    const auto listings = [&] {
        const auto all = s.asked();
        return std::count_if(all.begin(), all.end(),
                             [](const auto& one) { return one.starts_with("children"); });
    };
    auto seen = listings();
    CHECK(seen == 4);
    for (int answers = 0; answers < 10; ++answers) {
        s.answer(no_node); // of the barrier
        s.answer_names({});
        const auto more = listings();
        CHECK(more <= 1);
        seen += more;
    }
    CHECK(seen == 10);
}

TEST_CASE("a request that the C client refuses is tried again soon") {
    sweeper_stage s;
    s.c->refused = 1;
    SUBCASE("a delete") {
        s.remove("/a");
        CHECK(s.asked().empty());
        s.env->advance(1s);
        CHECK(s.count(s.asked(), "remove /a") == 1);
    }
    SUBCASE("a search") {
        s.core->sweeper().taint("/locks", 0); // its barrier is refused
        s.env->run();
        s.answer_names({});
        s.asked();
        s.env->advance(1s);
        CHECK(s.count(s.asked(), "children /locks") == 1);
    }
}

TEST_CASE("a create that is lost while an older one is searched for has its own minute") {
    sweeper_stage s;
    s.core->sweeper().taint("/locks", 0);
    s.answer(no_node);
    s.answer_names({});
    s.live(61s); // the last search is under way
    s.asked();
    SUBCASE("lost on the same connection") {
        s.lose_connection();
        s.core->sweeper().taint("/locks", 0);
        s.reconnect();
        CHECK(s.count(s.asked(), "children /locks") == 1);
    }
    SUBCASE("lost otherwise") { s.core->sweeper().taint("/locks", 0); }
    while (s.c->requests.size() > 1)
        s.answer(no_node); // pings of the pump, and the barrier
    s.answer_names({});
    s.live(61s);
    CHECK(s.count(s.asked(), "children /locks") == 1);
}

TEST_CASE("bytes of a lost create are given back when its directory was searched") {
    sweeper_stage s;
    REQUIRE(s.core->node_budget().reserve(100));
    s.core->sweeper().taint("/locks", 100);
    CHECK(s.core->node_budget().used() == 100);
    s.answer(no_node);
    s.answer_names({});
    CHECK(s.core->node_budget().used() == 0);
}

namespace {

struct marker_stage : sweeper_stage {
    rules::node_id id = core->claims().claim();
    std::string marker = "/locks/" + rules::marker_name(core->claims(), id, "job");
    const words both{"multi " + marker + " /locks/job"};
};

} // namespace

TEST_CASE("a marker goes together with the node of its lock, or not at all") {
    marker_stage s;
    s.core->sweeper().remove(s.marker, s.id, 0);
    s.env->run();
    CHECK(s.asked() == s.both);
    SUBCASE("done") { s.answer(); }
    SUBCASE("it was done before: the lock may have another holder now") { s.answer(no_node, 0); }
    SUBCASE("the lock's node was deleted by hand: the marker alone") {
        s.answer(no_node, 1);
        CHECK(s.asked() == words{"remove " + s.marker});
        s.answer();
    }
    SUBCASE("lost, and repeated") {
        s.lose_connection();
        s.asked();
        s.reconnect();
        CHECK(s.count(s.asked(), s.both.front()) == 1);
        while (s.core->claims().claimed(s.id))
            s.answer(no_node, 0);
    }
    CHECK_FALSE(s.core->claims().claimed(s.id));
    CHECK(s.count(s.asked(), "remove " + s.marker) == 0);
}

TEST_CASE("a marker whose lock has another holder is deleted alone") {
    marker_stage s;
    s.core->sweeper().remove_alone(s.marker, s.id, 0);
    s.env->run();
    CHECK(s.asked() == words{"remove " + s.marker});
}

TEST_CASE("an orphan marker in a tainted directory takes its lock's node along") {
    marker_stage s;
    s.core->claims().release(s.id);
    s.core->sweeper().taint("/locks", 0);
    s.asked();
    s.answer(no_node);
    s.answer_names({s.marker.substr(7), "job"});
    CHECK(s.asked() == words{s.both.front(), "get /locks"});
}
