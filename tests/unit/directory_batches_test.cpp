// The dispatcher: lock nodes that are created, or deleted, together with their directories.

#include "unit/batch_stage.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);
constexpr int node_exists = static_cast<int>(zk_errc::node_exists);
constexpr int not_empty = static_cast<int>(zk_errc::not_empty);

struct directory_stage : batch_stage {
    using batch_stage::batch_stage;

    seen_ptr create_both(const std::string& path) {
        return submit(lane::lock_work, requests::create{.path = path,
                                                        .data = {},
                                                        .how = sequential,
                                                        .mergeable = true,
                                                        .with_directory = true});
    }
    seen_ptr remove_both(const std::string& path) {
        return submit(lane::urgent,
                      requests::remove{.path = path, .mergeable = true, .with_directory = true});
    }
};

} // namespace

TEST_CASE("a node is created behind its directory, and deleted before it") {
    directory_stage s;
    const auto a = s.create_both("/k/1/x-");
    CHECK(s.asked() == words{s.batch_of({"/k/1", "/k/1/x-"}, "/k/1")});
    s.execute({"/k/1", "/k/1/x-0"});
    CHECK(a->path == "/k/1/x-0");
    CHECK(a->czxid == batch_zxid);
    const auto gone = s.remove_both("/k/1/x-0");
    CHECK(s.asked() == words{"multi /k/1/x-0 /k/1"});
    s.answer();
    CHECK(gone->rc == native::code::ok);
}

TEST_CASE("nodes with directories go together, and not with others") {
    directory_stage s;
    s.know({"/a"});
    const auto one = s.create_both("/k/1/x-");
    s.create("/a/x-");
    const auto two = s.create_both("/k/2/x-");
    CHECK(s.asked() ==
          words{s.batch_of({"/k/1", "/k/1/x-", "/k/2", "/k/2/x-"}, "/k/1"), "create /a/x-"});
    s.execute({"/k/1", "/k/1/x-0", "/k/2", "/k/2/x-0"});
    CHECK(one->path == "/k/1/x-0");
    CHECK(two->path == "/k/2/x-0");
    s.remove_both("/k/1/x-0");
    s.remove("/a/x-1");
    s.remove_both("/k/2/x-0");
    CHECK(s.asked() == words{"multi /k/1/x-0 /k/1 /k/2/x-0 /k/2", "remove /a/x-1"});
}

TEST_CASE("a directory is not made, or deleted, before an earlier request there") {
    directory_stage s;
    s.know({"/k/2"});
    s.create_both("/k/1/x-");
    s.create("/k/2/x-");
    s.create_both("/k/2/y-");
    CHECK(s.asked() == words{s.batch_of({"/k/1", "/k/1/x-"}, "/k/1"), "create /k/2/x-"});
    s.execute({"/k/1", "/k/1/x-0"});
    CHECK(s.asked() == words{s.batch_of({"/k/2", "/k/2/y-"}, "/k/2")});
    s.answer();
    s.execute({"/k/2", "/k/2/y-1"});
    s.remove_both("/k/1/x-0");
    s.remove("/k/2/x-0");
    s.remove_both("/k/2/x-1");
    CHECK(s.asked() == words{"multi /k/1/x-0 /k/1", "remove /k/2/x-0"});
    s.answer();
    CHECK(s.asked() == words{"multi /k/2/x-1 /k/2"});
}

TEST_CASE("the refusal of a directory is the answer to its node, and the others go again") {
    directory_stage s;
    const auto a = s.create_both("/k/1/x-");
    const auto b = s.create_both("/k/2/x-");
    const auto c = s.create_both("/k/3/x-");
    s.asked();
    s.answer(node_exists, 2);
    CHECK(b->rc == node_exists);
    CHECK_FALSE(a->rc);
    CHECK(s.asked() ==
          words{s.batch_of({"/k/1", "/k/1/x-"}, "/k/1"), s.batch_of({"/k/3", "/k/3/x-"}, "/k/3")});
    s.execute({"/k/1", "/k/1/x-0"});
    CHECK(a->path == "/k/1/x-0");
    s.answer(node_exists, 0);
    CHECK(c->rc == node_exists);
    const auto gone = s.remove_both("/k/1/x-0");
    s.asked();
    s.answer(not_empty, 1);
    CHECK(gone->rc == not_empty);
    CHECK(s.asked().empty());
}

TEST_CASE("after refusals batches of directories are smaller") {
    directory_stage s;
    const auto batches = [&] {
        for (int n = 0; n < 64; ++n)
            s.create_both("/k/" + std::to_string(n) + "/x-");
        return s.asked();
    };
    CHECK(batches().size() == 1);
    s.answer(no_node, 0); // the family's own path: made only once
    s.env->run();
    const auto alone = s.asked().size();
    CHECK(alone == 63);
    for (std::size_t n = 0; n < alone; ++n)
        s.answer(native::code::connection_loss);
    s.env->run();
    CHECK(batches().size() == 1);
    s.answer(node_exists, 0);
    for (std::size_t n = 0; n < alone; ++n)
        s.answer(native::code::connection_loss);
    s.asked();
    CHECK(batches().size() == 2);
}

TEST_CASE("a directory is not created while a batch may have to repeat a node in it") {
    batch_stage s;
    s.know({"/a", "/b", "/c"});
    s.create("/b/1-");
    s.create("/a/1-");
    CHECK(s.asked() == words{s.batch_of({"/b/1-", "/a/1-"}, "/b")});
    s.submit(lane::lock_work, requests::create{"/c", {}, sequential});
    CHECK(s.asked() == words{"create /c"});
    s.submit(lane::lock_work, requests::create{"/a", {}, sequential}); // an earlier call's
    CHECK(s.asked().empty());
    s.answer(no_node, 0);
    CHECK(s.asked() == words{"create /a/1-", "create /a"});
}

TEST_CASE("a create that waits for a batch does not hold back locks in other directories") {
    batch_stage s;
    s.know({"/a", "/b", "/c"});
    s.create("/a/x-");
    s.create("/b/x-");
    const auto batch = s.batch_of({"/a/x-", "/b/x-"}, "/a");
    CHECK(s.asked() == words{batch});
    s.create("/a/y-"); // behind the first in /a, if the batch is refused
    s.list("/a");      // shows that node
    s.submit(lane::lock_work, requests::create{"/b", {}, sequential});
    s.submit(lane::lock_work, requests::exists{"/b/x-5"});
    s.create("/c/x-");
    s.list("/c");
    CHECK(s.asked() == words{"create /c/x-", "children /c"});
    SUBCASE("executed") { s.execute({"/a/x-5", "/b/x-9"}); }
    SUBCASE("refused") {
        s.answer(static_cast<int>(zk_errc::no_auth), 1);
        CHECK(s.asked() == words{"create /a/x-"});
        s.answer(); // that in /c: the next create no longer waits for company
    }
    CHECK(s.asked() == words{"create /a/y-", "children /a", "create /b", "exists /b/x-5"});
}
