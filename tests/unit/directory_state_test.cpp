// What a queue knows of its directory.

#include "rules/directory_state.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using rules::directory_state;
using rules::made_here;

namespace {

/// The directory of a key that is free to be made.
directory_state of_key() {
    directory_state d;
    d.join(true);
    d.free(true);
    return d;
}

} // namespace

TEST_CASE("nothing is created while the directory is being made") {
    auto d = of_key();
    d.making(true);
    CHECK(d.being_made());
    d.making(false);
    CHECK_FALSE(d.being_made());
}

TEST_CASE("a directory that was made here is deleted once with its last node, if it is free") {
    auto d = of_key();
    CHECK(d.can_be_made());
    CHECK_FALSE(d.delete_with_last_node());
    d.made();
    CHECK_FALSE(d.can_be_made());
    d.free(false);
    CHECK_FALSE(d.delete_with_last_node());
    d.free(true);
    CHECK(d.delete_with_last_node());
    CHECK_FALSE(d.delete_with_last_node());
    CHECK_FALSE(d.own());
}

TEST_CASE("of a directory it is told who made it") {
    auto d = of_key();
    CHECK_FALSE(d.leave()); // nobody here
    d.made();
    CHECK(d.leave() == made_here::yes);
    d.perhaps_made();
    CHECK(d.leave() == made_here::perhaps);
    d.made();
    d.doubt();
    CHECK_FALSE(d.own());
    CHECK(d.leave() == made_here::perhaps);
    d.made();
    d.missing();
    CHECK_FALSE(d.leave());
    CHECK(d.company());
    CHECK(d.leave() == made_here::no);
    d.free(false);
    CHECK(d.leave() == made_here::no);
}

TEST_CASE("of a directory that no contender may make nothing is told") {
    directory_state d;
    d.join(false);
    d.free(true);
    d.made();
    CHECK_FALSE(d.company());
    CHECK_FALSE(d.leave());
    d.join(true);
    d.forget_keys();
    CHECK_FALSE(d.company());
}
