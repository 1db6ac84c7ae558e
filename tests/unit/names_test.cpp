// Which node is a contender for which lock, and the order of contenders.

#include "rules/names.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace paddock::rules;

namespace {

const std::string curator = "_c_c0ffee00-0000-4000-8000-000000000001-";
const std::string go = "_c_c0ffee00000040008000000000000001-";
const std::string kazoo = "c0ffee00000040008000000000000001";

std::optional<int> sequence(const std::string& child, const std::string& name = "lock") {
    return naming(name).sequence(child);
}

} // namespace

TEST_CASE("the contenders of a lock are those of Curator, of Go and of kazoo, and bare ones") {
    CHECK(sequence(curator + "lock-0000000007") == 7);
    CHECK(sequence(go + "lock-0000000007") == 7);
    CHECK(sequence("lock-0000000007") == 7);
    CHECK(sequence(kazoo + "__lock__0000000007") == 7);
}

TEST_CASE("kazoo's nodes are contenders only of a lock with kazoo's name") {
    CHECK_FALSE(sequence(kazoo + "__lock__0000000007", "job"));
    CHECK_FALSE(sequence("C0FFEE00000040008000000000000001__lock__0000000007"));
    CHECK_FALSE(sequence("c0ffee__lock__0000000007"));
    CHECK_FALSE(sequence(kazoo + "__rlock__0000000007"));
}

TEST_CASE("the name of a lock is the whole name: block- is not lock-") {
    CHECK_FALSE(sequence(curator + "block-0000000007"));
    CHECK_FALSE(sequence("block-0000000007"));
    CHECK_FALSE(sequence(curator + "lock-lock-0000000007"));
    CHECK_FALSE(sequence(curator + "latch-0000000007"));
    CHECK_FALSE(sequence(curator + "lock0000000007"));
    CHECK(sequence(curator + "block-0000000007", "block") == 7);
    CHECK(sequence(curator + "a-b-0000000007", "a-b") == 7);
    CHECK_FALSE(sequence(curator + "a-b-0000000007", "b"));
}

TEST_CASE("a protected name needs an id of the right length, and its dash") {
    CHECK_FALSE(sequence("_c_lock-0000000007"));
    CHECK_FALSE(sequence("_c_-lock-0000000007"));
    CHECK_FALSE(sequence("_c_c0ffee00-0000-4000-8000-00000000001-lock-0000000007"));
    CHECK_FALSE(sequence("_c_c0ffee00-0000-4000-8000-000000000001xlock-0000000007"));
    CHECK_FALSE(sequence("_c_c0ffee00-0000-4000-8000-000000000001"));
}

TEST_CASE("the dash before the number belongs to the name, a second one is its sign") {
    CHECK(sequence("lock-0000000005") == 5);
    CHECK(sequence("lock--000000005") == -5);
    CHECK(sequence("lock--2147483648") == -2147483647 - 1);
    CHECK(sequence("lock-2147483647") == 2147483647);
}

TEST_CASE("a sequence number is what the server prints with %010d, and nothing else") {
    for (const auto* const text :
         {"", "-", "7", "000000007", "00000000007", "+000000007", " 000000007", "0000000007 ",
          "000000000a", "-000000000", "2147483648", "9999999999", "-2147483649", "-0000000007",
          "--00000007", "0x00000007", "00000-0007"}) {
        CAPTURE(text);
        CHECK_FALSE(sequence(std::string("lock-") + text));
    }
}

TEST_CASE("other nodes in the directory are no contenders") {
    for (const auto* const child : {"", "locks", "leases", "lock-", "lock", "_c_", "__READ__"}) {
        CAPTURE(child);
        CHECK_FALSE(sequence(child));
    }
}

TEST_CASE("a name that paddock created is parsed as its own") {
    claims ids;
    ids.begin(0x1000'0000'0000'0001);
    const naming names("lock");
    const auto id = ids.claim();
    const auto prefix = names.prefix(ids, id);
    CHECK(prefix == "_c_10000000-0000-0001-0000-000000000001-lock-");
    CHECK(names.sequence(prefix + "0000000012") == 12);
    CHECK(own_id(prefix + "0000000012", ids) == id);
    CHECK(own_id(prefix, ids) == id);
}

TEST_CASE("kazoo's Lock with the marker of another recipe is a contender") {
    const std::string digits = "0123456789abcdef0123456789abcdef";
    CHECK(naming("lock").sequence(digits + "-lock-0000000007") == 7);
    CHECK_FALSE(naming("lock").sequence(digits + "-other-0000000007"));
    CHECK_FALSE(naming("lock").sequence("x123456789abcdef0123456789abcdef-lock-0000000007"));
    const auto writer = naming::of_shared_mutex().read(digits + "-__WRIT__0000000007");
    REQUIRE(writer);
    CHECK(writer->as == role::exclusive);
}

TEST_CASE("a node with kazoo's name is an own node by the digits of its id") {
    claims ids;
    ids.begin(42);
    const auto id = ids.claim();
    const naming names("lock");
    const auto node = names.prefix(ids, id, role::exclusive, style::kazoo) + "0000000003";
    CHECK(node == "000000000000002a0000000000000001__lock__0000000003");
    CHECK(names.sequence(node) == 3);
    CHECK(own_id(node, ids) == id);
    ids.begin(43);
    CHECK_FALSE(own_id(node, ids));
}

TEST_CASE("a read-write lock tells readers, writers and the nodes of a mutex apart") {
    claims ids;
    ids.begin(42);
    const auto names = naming::of_shared_mutex();
    const auto reader = names.prefix(ids, ids.claim(), role::shared) + "0000000003";
    const auto writer = names.prefix(ids, ids.claim(), role::exclusive) + "0000000004";
    CHECK(names.read(reader)->as == role::shared);
    CHECK(names.read(writer)->as == role::exclusive);
    CHECK_FALSE(naming("lock").read(reader));
    CHECK_FALSE(names.read(naming("lock").prefix(ids, ids.claim()) + "0000000005"));
    CHECK_FALSE(naming("lock").has_shared());
}

TEST_CASE("a node is an own node by its session's id, whatever lock it is for") {
    claims ids;
    ids.begin(42);
    const auto id = ids.claim();
    CHECK(own_id(naming("other").prefix(ids, id) + "0000000001", ids) == id);
    CHECK_FALSE(own_id("lock-0000000001", ids));
    CHECK_FALSE(own_id(curator + "lock-0000000001", ids));
    claims others;
    others.begin(43);
    CHECK_FALSE(own_id(naming("lock").prefix(others, others.claim()) + "0000000001", ids));
}

TEST_CASE("orphans are own nodes that no contender claims") {
    claims ids;
    ids.begin(42);
    const naming names("lock");
    const auto held = ids.claim(), forgotten = ids.claim();
    const std::vector<std::string> children = {names.prefix(ids, held) + "0000000000",
                                               names.prefix(ids, forgotten) + "0000000001",
                                               curator + "lock-0000000002"};
    CHECK(orphans(children, ids).empty());
    ids.release(forgotten);
    CHECK(orphans(children, ids) == std::vector{children[1]});
}

TEST_CASE("places are in the order of their numbers, ties by name") {
    std::vector<node_position> queue{{10, "a"}, {9, "b"}, {-1, "c"}, {9, "a"}};
    std::sort(queue.begin(), queue.end());
    CHECK(queue == std::vector<node_position>{{-1, "c"}, {9, "a"}, {9, "b"}, {10, "a"}});
}

TEST_CASE("a lock's name must not contain the parts that other recipes put into theirs") {
    for (const auto* const name : {"_c_x", "my-lock-1", "latch-", "lease-x", "__lock__",
                                   "__rlock__", "x__READ__", "__WRIT__x", "__REVOKE__"}) {
        CAPTURE(name);
        CHECK(reserved(name));
    }
    CHECK_FALSE(reserved("lock"));
    CHECK_FALSE(reserved("nightly job"));
    CHECK_FALSE(reserved(""));
}

TEST_CASE("the warning comes at half of all numbers, the refusal well before their end") {
    CHECK(sequence_warning == 1 << 30);
    CHECK(sequence_limit > sequence_warning);
    CHECK(sequence_limit <= 0x7fff'ffff - 10'000);
}

TEST_CASE("a simple lock's marker tells its session, and is no contender of any lock") {
    claims ids;
    ids.begin(0x1234'5678'9abc'def0);
    const auto id = ids.claim();
    for (const std::string lock : {"lock", "x", "lock-0000000001", "a-marker"}) {
        CAPTURE(lock);
        const auto marker = marker_name(ids, id, lock);
        CHECK(marked_lock(marker) == lock);
        CHECK(own_id(marker, ids) == id);
        for (const std::string mutex : {"lock", "x", "marker", "a"})
            CHECK_FALSE(sequence(marker, mutex));
    }
    CHECK_FALSE(marked_lock(naming("lock").prefix(ids, id) + "0000000001"));
    CHECK_FALSE(marked_lock(naming("a-marker").prefix(ids, id) + "0000000001"));
    CHECK_FALSE(marked_lock(curator + "-marker"));
    CHECK_FALSE(marked_lock("x-marker"));
    CHECK_FALSE(marked_lock("lock"));
}
