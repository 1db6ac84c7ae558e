// What is known of the directories of nodes that could be created or deleted together.

#include "rules/batch_places.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <string>

using paddock::zk_errc;
using paddock::rules::batch_places;

namespace {

constexpr int no_node = static_cast<int>(zk_errc::no_node);
constexpr int no_auth = static_cast<int>(zk_errc::no_auth);

} // namespace

TEST_CASE("a directory takes creates of a batch once it is known to exist") {
    batch_places places;
    CHECK_FALSE(places.suits_create("/a"));
    CHECK(places.suits_remove("/a"));
    places.created("/a");
    CHECK(places.suits_create("/a"));
    CHECK(places.suits_remove("/a"));
    CHECK_FALSE(places.suits_create("/a/b"));
}

TEST_CASE("a directory with a missing node is not known to exist any more") {
    batch_places places;
    places.created("/a");
    places.refused("/a", no_node);
    CHECK_FALSE(places.suits_create("/a"));
    CHECK(places.suits_remove("/a"));
    places.created("/a");
    CHECK(places.suits_create("/a"));
}

TEST_CASE("a directory that has refused for any other reason stays out of batches") {
    batch_places places;
    SUBCASE("known before") { places.created("/a"); }
    SUBCASE("unknown before") {}
    places.refused("/a", no_auth);
    CHECK_FALSE(places.suits_create("/a"));
    CHECK_FALSE(places.suits_remove("/a"));
    places.refused("/a", no_node);
    places.created("/a");
    CHECK_FALSE(places.suits_create("/a"));
    CHECK_FALSE(places.suits_remove("/a"));
    places.clear();
    CHECK(places.suits_remove("/a"));
}

TEST_CASE("only so many directories are remembered") {
    batch_places places;
    places.refused("/refused", no_auth);
    for (std::size_t i = 0; i < 2 * batch_places::limit; ++i) {
        places.created("/" + std::to_string(i));
        REQUIRE(places.size() <= batch_places::limit);
    }
    CHECK(places.suits_create("/" + std::to_string(2 * batch_places::limit - 1)));
}

TEST_CASE("a batch is smaller after a refusal, and grows again when it is executed") {
    paddock::rules::batch_size size(64);
    CHECK(size.now() == 64);
    size.executed();
    CHECK(size.now() == 64);
    size.refused();
    CHECK(size.now() == 32);
    size.executed();
    CHECK(size.now() == 41);
    for (int n = 0; n < 10; ++n)
        size.refused();
    CHECK(size.now() == 1);
    for (int n = 0; n < 20; ++n)
        size.executed();
    CHECK(size.now() == 64);
}
