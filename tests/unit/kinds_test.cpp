// Which kind of lock a node belongs to.

#include "rules/kinds_in_use.hpp"
#include "stepped_queue.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using rules::lock_kind;

TEST_CASE("a path is of one kind as long as anyone uses it") {
    rules::kinds_in_use kinds;
    const auto a = kinds.know("/a");
    const auto b = kinds.know("/a/b");
    CHECK_FALSE(kinds.begin(a, lock_kind::mutex));
    CHECK_FALSE(kinds.begin(kinds.know("/a"), lock_kind::mutex));
    CHECK_FALSE(kinds.begin(b, lock_kind::semaphore));
    CHECK(kinds.begin(a, lock_kind::semaphore) == lock_kind::mutex);
    kinds.end(a);
    CHECK(kinds.begin(a, lock_kind::election) == lock_kind::mutex);
    kinds.end(a);
    CHECK_FALSE(kinds.begin(a, lock_kind::election));
    CHECK(kinds.begin(b, lock_kind::mutex) == lock_kind::semaphore);
}

TEST_CASE("a path is known until its last user has gone") {
    rules::kinds_in_use kinds;
    const auto a = kinds.know("/a");
    CHECK(kinds.know("/a") == a);
    CHECK_FALSE(kinds.begin(a, lock_kind::mutex));
    kinds.forget(a);
    CHECK(kinds.begin(kinds.know("/a"), lock_kind::election) == lock_kind::mutex);
    kinds.end(a);
    kinds.forget(a);
    kinds.forget(a);
    CHECK_FALSE(kinds.begin(kinds.know("/a"), lock_kind::election));
}

TEST_CASE("a child of a lock's directory tells another kind only by an id and a marker") {
    const std::string id = curator_name(0).substr(0, 40);
    const auto found = [](std::vector<std::string> children, lock_kind own) {
        const auto one = rules::other_kind(children, own);
        return one ? std::string(rules::name_of(one->kind)) : std::string();
    };
    CHECK(found({id + "lock-0000000001"}, lock_kind::mutex).empty());
    CHECK(found({id + "lock-0000000001"}, lock_kind::shared_mutex) == "a mutex");
    CHECK(found({id + "latch-0000000001"}, lock_kind::mutex) == "an election");
    CHECK(found({id + "__READ__0000000001"}, lock_kind::mutex) == "a shared_mutex");
    CHECK(found({"0123456789abcdef0123456789abcdef__lock__0000000001"}, lock_kind::election) ==
          "a mutex");
    CHECK(found({"locks", "leases"}, lock_kind::mutex) == "a semaphore");
    CHECK(found({"locks", "leases"}, lock_kind::semaphore).empty());
    CHECK(found({"locks", "leases", id + "lock-0000000001"}, lock_kind::semaphore) == "a mutex");
    for (const std::string other : {"locks", "leases", "lock-0000000001", "latch-0000000001", "x"})
        CHECK(found({other}, lock_kind::shared_mutex).empty());
    CHECK(found({id + "alpha-0000000001", id + "lock-x"}, lock_kind::election).empty());
    CHECK_FALSE(rules::kind_of(rules::naming("alpha")));
    CHECK(rules::kind_of(rules::naming("lock")) == lock_kind::mutex);
}
