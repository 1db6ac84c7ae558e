// The dispatcher: lock nodes that are created, or deleted, in one multi.

#include "support/session_stage.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using detail::lane;
namespace requests = detail::requests;
using words = std::vector<std::string>;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);
constexpr int no_auth = static_cast<int>(zk_errc::no_auth);
constexpr int session_expired = static_cast<int>(zk_errc::session_expired);
constexpr std::int64_t batch_zxid = 77;

client_options window_of(std::size_t requests) {
    client_options options;
    options.budgets.requests_in_flight = requests;
    return options;
}

struct answer_seen {
    std::optional<int> rc{};
    std::string path{};
    std::int64_t czxid = 0;
    int refused_step = -1;
    bool wanted = true;
};
using seen_ptr = std::shared_ptr<answer_seen>;

struct batch_stage : session_stage {
    using session_stage::session_stage;

    seen_ptr submit(lane which, detail::request what, std::function<void()> answered = {}) {
        auto seen = std::make_shared<answer_seen>();
        core->dispatcher().submit(
            which, std::move(what),
            [seen, answered](const native::reply& r) {
                CHECK_FALSE(seen->rc);
                seen->rc = r.rc;
                seen->path = r.value;
                seen->czxid = r.stat ? r.stat->czxid : 0;
                seen->refused_step = r.refused_step;
                if (answered) answered();
            },
            [seen] { return seen->wanted; });
        return seen;
    }
    seen_ptr create(const std::string& path, std::function<void()> answered = {}) {
        return submit(lane::lock_work,
                      requests::create{path, {}, {.mode = create_mode::ephemeral_sequential}, true},
                      std::move(answered));
    }
    seen_ptr remove(const std::string& path) {
        return submit(lane::urgent, requests::remove{path, any_version, true});
    }
    seen_ptr list(const std::string& path) { return submit(lane::lock_work, requests::list{path}); }
    /// Creates that show that the directories exist.
    void know(const words& directories) {
        for (const auto& directory : directories) {
            create(directory + "/first-");
            env->run();
            answer();
        }
        asked();
    }
    /// The batch is executed: `paths` are those of its nodes.
    void execute(const words& paths) {
        std::vector<operation_result> results;
        for (const auto& path : paths)
            results.push_back({.path = path});
        results.push_back({.path = "passing"});
        results.push_back({.stat = {.czxid = batch_zxid, .mzxid = batch_zxid}});
        results.emplace_back();
        answer_multi(std::move(results));
    }
    static std::string batch_of(const words& paths, const std::string& first_directory) {
        std::string all = "multi";
        for (const auto& path : paths)
            all += ' ' + path;
        for (int n = 0; n < 3; ++n)
            all += ' ' + first_directory + "/_paddock_czxid";
        return all;
    }
};

} // namespace

TEST_CASE("creates of one turn go together, and each is answered as if it had gone alone") {
    batch_stage s;
    s.know({"/a", "/b"});
    const auto a = s.create("/a/x-");
    const auto listing = s.list("/a");
    const auto b = s.create("/b/x-");
    s.list("/b");
    CHECK(s.asked() == words{s.batch_of({"/a/x-", "/b/x-"}, "/a"), "children /a", "children /b"});
    s.execute({"/a/x-5", "/b/x-9"});
    CHECK(a->rc == native::code::ok);
    CHECK(a->path == "/a/x-5");
    CHECK(b->path == "/b/x-9");
    for (const auto& one : {a, b})
        CHECK(one->czxid == batch_zxid);
    CHECK_FALSE(listing->rc);
}

TEST_CASE("what has no company, or may not have any, goes alone") {
    batch_stage s;
    s.know({"/a", "/b"});
    words expected{"create /a/x-"};
    SUBCASE("nothing else in this turn") { s.create("/a/x-"); }
    SUBCASE("a directory that is not known to exist") {
        s.create("/a/x-");
        s.create("/new/x-");
        expected.emplace_back("create /new/x-");
    }
    SUBCASE("two nodes of one directory: their tokens differ by the transaction") {
        s.create("/a/x-");
        s.create("/a/y-");
        expected.emplace_back("create /a/y-");
    }
    SUBCASE("a request that is not for batches") {
        s.create("/a/x-");
        s.submit(lane::lock_work, requests::create{"/b/x", {}, {}});
        expected.emplace_back("create /b/x");
    }
    SUBCASE("a create and a delete") {
        s.create("/a/x-");
        s.remove("/b/y");
        expected.insert(expected.begin(), "remove /b/y");
    }
    SUBCASE("the other is not wanted any more") {
        s.create("/a/x-");
        s.create("/b/x-")->wanted = false;
    }
    SUBCASE("another turn") {
        s.create("/a/x-");
        s.env->run();
        s.create("/b/x-");
        expected.emplace_back("create /b/x-");
    }
    SUBCASE("knowledge of the session before") {
        s.expire();
        s.asked();
        s.create("/a/x-");
        s.create("/b/x-");
        expected.emplace_back("create /b/x-");
    }
    CHECK(s.asked() == expected);
}

TEST_CASE("deletes of one turn go together, also in directories that are not known") {
    batch_stage s;
    const auto a = s.remove("/a/1");
    const auto b = s.remove("/a/2");
    const auto c = s.remove("/c/3");
    CHECK(s.asked() == words{"multi /a/1 /a/2 /c/3"});
    s.answer();
    for (const auto& one : {a, b, c})
        CHECK(one->rc == native::code::ok);
}

TEST_CASE("a batch has at most 64 nodes, and at most 64 KiB") {
    batch_stage s;
    std::string name = "/a/";
    std::size_t expected = 64;
    SUBCASE("nodes") {}
    SUBCASE("bytes") {
        name += std::string(2048, 'x');
        expected = 31;
    }
    for (int n = 0; n < 70; ++n)
        s.remove(name + std::to_string(n));
    const auto first = s.asked().front();
    CHECK(static_cast<std::size_t>(std::count(first.begin(), first.end(), '/')) == 2 * expected);
}

TEST_CASE("a small create does not overtake a large one of its directory") {
    batch_stage s;
    s.know({"/a", "/b"});
    s.create("/a/x-");
    s.submit(lane::lock_work, requests::create{"/b/1-",
                                               std::string(std::size_t(64) * 1024, 'x'),
                                               {.mode = create_mode::ephemeral_sequential},
                                               true});
    s.create("/b/2-");
    CHECK(s.asked() == words{"create /a/x-", "create /b/1-", "create /b/2-"});
}

TEST_CASE("the window of lock work counts every node of a batch") {
    batch_stage s(window_of(2));
    s.know({"/a", "/b", "/c"});
    for (const auto* path : {"/a/x-", "/b/x-", "/c/x-"})
        s.create(path);
    CHECK(s.asked() == words{s.batch_of({"/a/x-", "/b/x-"}, "/a")});
    s.execute({"/a/x-1", "/b/x-1"});
    CHECK(s.asked() == words{"create /c/x-"});
}

TEST_CASE("a refused step gets the error, and the others go again, alone and first") {
    batch_stage s(window_of(3));
    s.know({"/a", "/b", "/c"});
    const auto a = s.create("/a/x-");
    seen_ptr next;
    const auto b = s.create("/b/x-", [&] { next = s.create("/b/again-"); });
    const auto c = s.create("/c/x-");
    s.create("/d/x-"); // waits for the window
    s.asked();
    s.answer(no_node, 1);
    CHECK(b->rc == no_node);
    CHECK(b->refused_step == -1);
    CHECK(s.asked() == words{"create /a/x-", "create /c/x-", "create /d/x-"});
    s.answer();
    CHECK(a->rc == native::code::ok);
    CHECK_FALSE(c->rc);
    CHECK(s.asked() == words{"create /b/again-"});
}

TEST_CASE("after a refusal the directory goes alone, until it is known to exist") {
    batch_stage s;
    s.know({"/a", "/b"});
    s.create("/a/x-");
    s.create("/b/x-");
    int code = 0;
    int step = 0;
    SUBCASE("it does not exist") { code = no_node; }
    SUBCASE("it may not be written") { code = no_auth; }
    SUBCASE("it does not allow the steps that tell the transaction") {
        code = no_auth;
        step = 4;
    }
    s.env->run();
    s.answer(code, step);
    while (!s.c->requests.empty())
        s.answer();
    s.know({"/b", "/c"});
    s.create("/a/x-");
    s.create("/b/x-");
    s.create("/c/x-");
    CHECK(s.asked() == words{"create /a/x-", s.batch_of({"/b/x-", "/c/x-"}, "/b")});
    s.answer();
    s.execute({"/b/x-1", "/c/x-1"});
    s.create("/a/x-");
    s.create("/b/x-");
    const auto asked = s.asked();
    CHECK(asked.size() == (code == no_node ? 1 : 2));
}

TEST_CASE("a step that only tells the transaction is refused: all nodes go again, alone") {
    batch_stage s;
    s.know({"/a", "/b"});
    const auto a = s.create("/a/x-");
    const auto b = s.create("/b/x-");
    s.asked();
    s.answer(no_auth, 4);
    CHECK_FALSE(a->rc);
    CHECK_FALSE(b->rc);
    CHECK(s.asked() == words{"create /a/x-", "create /b/x-"});
}

TEST_CASE("a listing that was sent behind a refused batch is asked for again behind its nodes") {
    batch_stage s;
    s.know({"/a", "/b"});
    s.create("/a/x-");
    const auto listing = s.list("/a");
    s.create("/b/x-");
    const auto refused = s.list("/b");
    const auto users = s.submit(lane::user, requests::list{"/a"});
    s.asked();
    s.answer(no_auth, 1);
    CHECK(s.asked() == words{"create /a/x-"});
    SUBCASE("it shows the directory as it was") { s.answer_names({"other-1"}); }
    SUBCASE("it is refused") { s.answer(no_node); }
    SUBCASE("it is lost") {
        s.lose_connection();
        CHECK(listing->rc == native::code::connection_loss);
        return;
    }
    CHECK_FALSE(listing->rc);
    CHECK(s.asked() == words{"children /a"});
    s.answer();
    CHECK(refused->rc == native::code::ok); // its node was not sent again
    s.answer();
    CHECK(users->rc == native::code::ok);
    s.answer(); // the create
    s.answer_names({"other-1", "x-2"});
    CHECK(listing->rc == native::code::ok);
}

TEST_CASE("without a definite answer each step is unknown") {
    batch_stage s;
    s.know({"/a", "/b"});
    const auto a = s.create("/a/x-");
    const auto b = s.create("/b/x-");
    s.asked();
    int expected = native::code::connection_loss;
    SUBCASE("the connection is lost") { s.lose_connection(); }
    SUBCASE("the session has ended") {
        expected = session_expired;
        s.answer(session_expired, 0);
    }
    SUBCASE("the client closes") {
        expected = native::code::closing;
        s.core->close(errc::closed);
    }
    CHECK(a->rc == expected);
    CHECK(b->rc == expected);
    CHECK(s.asked().empty());
}

TEST_CASE("each part of a batch that the C client refuses is answered with its code") {
    batch_stage s;
    s.c->refused = 1;
    const auto a = s.remove("/a/1");
    const auto b = s.remove("/a/2");
    s.env->run();
    CHECK(a->rc == native::code::invalid_state);
    CHECK(b->rc == native::code::invalid_state);
}
