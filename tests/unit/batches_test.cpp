// The dispatcher: lock nodes that are created, or deleted, in one multi.

#include "unit/batch_stage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);
constexpr int no_auth = static_cast<int>(zk_errc::no_auth);
constexpr int session_expired = static_cast<int>(zk_errc::session_expired);

client_options window_of(std::size_t requests) {
    client_options options;
    options.budgets.requests_in_flight = requests;
    return options;
}

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

TEST_CASE("creates of one directory go together, in their order") {
    batch_stage s;
    s.know({"/a", "/b"});
    const auto first = s.create("/a/x-");
    s.list("/a");
    s.create("/b/x-");
    const auto second = s.create("/a/x-");
    s.list("/a");
    CHECK(s.asked() ==
          words{s.batch_of({"/a/x-", "/b/x-", "/a/x-"}, "/a"), "children /a", "children /a"});
    s.execute({"/a/x-5", "/b/x-9", "/a/x-6"});
    CHECK(first->path == "/a/x-5");
    CHECK(second->path == "/a/x-6");
    CHECK(first->czxid == second->czxid);
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
    SUBCASE("a request that is not for batches") {
        s.create("/a/x-");
        s.submit(lane::lock_work, requests::create{"/b/x", {}, sequential});
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

TEST_CASE("while two batches are in flight the next one grows, until one of them is answered") {
    batch_stage s;
    words directories;
    for (int n = 0; n < 80; ++n)
        directories.push_back("/" + std::to_string(n));
    s.know(directories);
    const auto one_each_turn = [&](std::size_t begin, std::size_t end) {
        for (auto n = begin; n < end; ++n) {
            s.create(directories[n] + "/x-");
            s.env->run();
        }
    };
    one_each_turn(0, 5);
    const words two{"create /0/x-", "create /1/x-"};
    CHECK(s.asked() == two);
    const auto others = s.batch_of({"/2/x-", "/3/x-", "/4/x-"}, "/2");
    SUBCASE("an answer") {
        s.answer();
        CHECK(s.asked() == words{others});
    }
    SUBCASE("other requests behind it wait, too") {
        s.list("/0");
        CHECK(s.asked().empty());
        s.answer();
        CHECK(s.asked() == words{others, "children /0"});
    }
    SUBCASE("so does a crowd at one lock") {
        for (int n = 0; n < 2; ++n) {
            s.create("/0/x-");
            s.env->run();
        }
        CHECK(s.asked().empty());
        s.answer();
        CHECK(s.asked() == words{s.batch_of({"/2/x-", "/3/x-", "/4/x-", "/0/x-", "/0/x-"}, "/2")});
    }
    SUBCASE("deletes do not wait for creates") {
        s.remove("/0/x-");
        CHECK(s.asked() == words{"remove /0/x-"});
    }
    SUBCASE("what the program asks for afterwards does not overtake them") {
        s.submit(lane::user, requests::get{"/a"});
        s.core->dispatcher().send();
        CHECK(s.asked() == words{others, "get /a"});
    }
    SUBCASE("no listing overtakes a delete") {
        for (int n = 0; n < 3; ++n) {
            s.remove("/" + std::to_string(n) + "/x-");
            s.env->run();
        }
        CHECK(s.asked() == words{"remove /0/x-", "remove /1/x-"});
        for (int n = 0; n < 2; ++n)
            s.answer(); // the creates
        CHECK(s.asked().empty());
        s.answer();
        CHECK(s.asked() == words{"remove /2/x-", others});
    }
    SUBCASE("nothing could join it") {
        s.create("/new/x-");
        CHECK(s.asked().empty());
        s.answer();
        s.asked();
        s.create("/new/y-");
        CHECK(s.asked() == words{"create /new/y-"});
    }
    SUBCASE("so many wait that it is full") {
        one_each_turn(5, 65);
        CHECK(s.asked().empty());
        one_each_turn(65, 66);
        const auto sent = s.asked();
        REQUIRE(sent.size() == 1);
        CHECK(sent.front().starts_with("multi /2/x- /3/x- "));
    }
}

TEST_CASE("a small create does not overtake a large one of its directory") {
    batch_stage s;
    s.know({"/a", "/b"});
    s.create("/a/x-");
    s.submit(lane::lock_work,
             requests::create{"/b/1-", std::string(std::size_t(64) * 1024, 'x'), sequential, true});
    s.create("/b/2-");
    CHECK(s.asked() == words{"create /a/x-", "create /b/1-"});
    s.answer();
    CHECK(s.asked() == words{"create /b/2-"});
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

TEST_CASE("a missing directory is the answer for all nodes that a batch has there") {
    words order;
    batch_stage s;
    s.know({"/a", "/b"});
    const auto note = [&](const char* name) {
        return [&order, name] { order.emplace_back(name); };
    };
    const auto first = s.create("/a/1-", note("first"));
    const auto other = s.create("/b/x-", note("other"));
    const auto second = s.create("/a/2-", note("second"));
    s.asked();
    s.answer(no_node, 0);
    CHECK(order == words{"first", "second"});
    CHECK(first->rc == no_node);
    CHECK(second->rc == no_node);
    CHECK_FALSE(other->rc);
    CHECK(s.asked() == words{"create /b/x-"});
}

TEST_CASE("a node that may have to be created again is not overtaken in its directory") {
    batch_stage s;
    s.know({"/a", "/b", "/c"});
    s.create("/a/1-");
    s.create("/b/1-");
    CHECK(s.asked() == words{s.batch_of({"/a/1-", "/b/1-"}, "/a")});
    SUBCASE("its batch is refused") {
        s.create("/b/2-");
        s.list("/b");
        CHECK(s.asked().empty());
        s.answer(no_node, 0);
        CHECK(s.asked() == words{"create /b/1-", "create /b/2-", "children /b"});
    }
    SUBCASE("its batch is executed") {
        s.create("/b/2-");
        CHECK(s.asked().empty());
        s.execute({"/a/1-1", "/b/1-1"});
        CHECK(s.asked() == words{"create /b/2-"});
    }
    SUBCASE("its batch is lost") {
        s.lose_connection();
        CHECK(s.asked().empty());
    }
    SUBCASE("others may go") {
        s.create("/c/1-");
        s.create("/b/2-");
        CHECK(s.asked() == words{"create /c/1-"});
    }
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
