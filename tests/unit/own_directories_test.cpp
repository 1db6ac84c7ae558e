// What a client knows of the directories of keyed locks, and when it visits those left behind.

#include "rules/own_directories.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using paddock::rules::made_here;
using paddock::rules::own_directories;
using found = own_directories::found;
using origin = own_directories::origin;
using words = std::vector<std::string>;

namespace {
constexpr own_directories::time start{1h};
constexpr std::size_t many = 100;
constexpr auto quiet = own_directories::quiet;

void recognise(own_directories& known, const std::string& directory) {
    CHECK(known.ask(directory));
    known.answered(directory, origin::locks);
}
} // namespace

TEST_CASE("a directory that nobody else uses may be made and deleted") {
    own_directories known;
    CHECK(known.free("/orders/1"));
    known.left("/orders/1", made_here::no, start);
    CHECK(known.free("/orders/1"));
    CHECK(known.size() == 0);
    CHECK_FALSE(known.next_visit());
}

TEST_CASE("one that others use is left alone until a visit finds nothing") {
    own_directories known;
    known.shared("/orders/1", start);
    CHECK_FALSE(known.free("/orders/1"));
    CHECK(known.free("/orders/2"));
    CHECK_FALSE(known.next_visit()); // our contender is still there
    known.left("/orders/1", made_here::no, start);
    CHECK(known.next_visit() == start + quiet);
    CHECK(known.take_due(start + quiet - 1ns, many).empty());
    CHECK(known.take_due(start + quiet, many) == words{"/orders/1"});
    CHECK_FALSE(known.free("/orders/1"));
    SUBCASE("nothing") { known.visited("/orders/1", found::nothing, start + quiet); }
    SUBCASE("somebody else's") { known.visited("/orders/1", found::foreign, start + quiet); }
    CHECK(known.free("/orders/1"));
    CHECK(known.size() == 0);
}

TEST_CASE("one in use is visited again and again, more and more seldom") {
    own_directories known;
    known.left("/orders/1", made_here::yes, start);
    auto now = start + quiet;
    auto pause = std::chrono::seconds(quiet);
    for (int n = 0; n < 10; ++n) {
        CHECK(known.take_due(now, many) == words{"/orders/1"});
        known.visited("/orders/1", found::in_use, now);
        pause = std::min<std::chrono::seconds>(2 * pause, own_directories::longest_pause);
        CHECK(known.next_visit() == now + pause);
        now += pause;
    }
    known.left("/orders/1", made_here::no, now); // this client has used it again: pauses are short
    CHECK(known.next_visit() == now);
    known.take_due(now, many);
    known.visited("/orders/1", found::in_use, now);
    CHECK(known.next_visit() == now + 2 * quiet);
}

TEST_CASE("a directory is left alone for ten seconds after others were seen, used or not") {
    own_directories known;
    known.shared("/orders/1", start);
    known.left("/orders/1", made_here::no, start + 1s);
    CHECK(known.next_visit() == start + quiet);
    known.left("/orders/1", made_here::no, start + 9s);
    CHECK(known.next_visit() == start + quiet);
    SUBCASE("none were seen again") {
        known.left("/orders/1", made_here::no, start + 60s);
        CHECK(known.next_visit() == start + 60s);
    }
    SUBCASE("others were seen again") {
        known.shared("/orders/1", start + 9s);
        CHECK(known.next_visit() == start + 9s + quiet);
        known.left("/orders/1", made_here::no, start + 11s);
        CHECK(known.next_visit() == start + 9s + quiet);
    }
    SUBCASE("a visit has seen nodes") {
        known.take_due(start + quiet, many);
        known.visited("/orders/1", found::in_use, start + quiet);
        known.left("/orders/1", made_here::no, start + quiet + 1s);
        CHECK(known.next_visit() == start + 2 * quiet);
    }
}

TEST_CASE("a directory that this client has perhaps made is looked at now, and deleted later") {
    own_directories known;
    known.left("/orders/1", made_here::perhaps, start);
    CHECK(known.take_due(start, many) == words{"/orders/1"});
    CHECK(known.lately_used("/orders/1", start));
    known.visited("/orders/1", found::lately_used, start);
    CHECK(known.made_by_locks("/orders/1"));
    CHECK(known.next_visit() == start + quiet);
    CHECK_FALSE(known.lately_used("/orders/1", start + quiet));
    CHECK(known.close() == words{"/orders/1"});
}

TEST_CASE("the first look at such a directory is not put off by another contender") {
    own_directories known;
    known.left("/orders/1", made_here::perhaps, start);
    known.left("/orders/1", made_here::no, start + 1s);
    CHECK(known.take_due(start + 1s, many) == words{"/orders/1"});
    known.visited("/orders/1", found::lately_used, start + 1s); // now its origin is known
    known.left("/orders/1", made_here::no, start + 2s);
    CHECK(known.next_visit() == start + quiet);
    CHECK(known.close() == words{"/orders/1"});
}

TEST_CASE("a visit without an answer is made again") {
    own_directories known;
    known.left("/orders/1", made_here::yes, start);
    known.take_due(start + quiet, many);
    known.visited("/orders/1", found::no_answer, start + 2 * quiet);
    CHECK(known.next_visit() == start + 3 * quiet);
}

TEST_CASE("a contender that leaves during a visit makes another one necessary") {
    own_directories known;
    known.left("/orders/1", made_here::yes, start);
    known.take_due(start + quiet, many);
    known.left("/orders/1", made_here::no, start + quiet + 1s);
    known.visited("/orders/1", found::nothing, start + quiet + 2s);
    CHECK(known.next_visit() == start + quiet + 1s);
    CHECK_FALSE(known.free("/orders/1"));
}

TEST_CASE("visits come in their order, and not all at once") {
    own_directories known;
    known.left("/b", made_here::yes, start);
    known.left("/a", made_here::yes, start + 1s);
    known.left("/c", made_here::yes, start + 2s);
    CHECK(known.take_due(start + 1h, 2) == words{"/b", "/a"});
    CHECK(known.take_due(start + 1h, 2) == words{"/c"});
}

TEST_CASE("a refusal for lack of a right counts for all keys of the family, and one session") {
    own_directories known;
    known.refused("/orders/1");
    CHECK_FALSE(known.free("/orders/2"));
    CHECK(known.free("/prices/2"));
    known.session_ended();
    CHECK(known.free("/orders/2"));
}

TEST_CASE("when the client closes, directories that locks have made are deleted at once") {
    own_directories known;
    known.shared("/a", start);
    SUBCASE("made by this client") { known.left("/a", made_here::yes, start); }
    SUBCASE("recognised by its data") {
        recognise(known, "/a");
        known.left("/a", made_here::no, start);
    }
    SUBCASE("recognised, and its contender is still there") { recognise(known, "/a"); }
    SUBCASE("visited, and in use") {
        known.left("/a", made_here::no, start);
        known.take_due(start + quiet, many);
        known.visited("/a", found::in_use, start + quiet);
    }
    CHECK(known.made_by_locks("/a"));
    CHECK(known.close() == words{"/a"});
    CHECK(known.size() == 0);
    CHECK_FALSE(known.next_visit());
}

TEST_CASE("when the client closes, a directory of unknown origin stays") {
    own_directories known;
    known.shared("/a", start);
    SUBCASE("it existed before") { known.left("/a", made_here::no, start); }
    SUBCASE("this client has perhaps made it") { known.left("/a", made_here::perhaps, start); }
    SUBCASE("another one may be in its place") {
        recognise(known, "/a");
        known.left("/a", made_here::perhaps, start);
    }
    SUBCASE("its data are other ones") {
        known.ask("/a");
        known.answered("/a", origin::others);
    }
    SUBCASE("its data are being read") { known.ask("/a"); }
    SUBCASE("a visit had no answer") {
        known.left("/a", made_here::no, start);
        known.take_due(start + quiet, many);
        known.visited("/a", found::no_answer, start + quiet);
    }
    CHECK_FALSE(known.made_by_locks("/a"));
    CHECK(known.close().empty());
}

TEST_CASE("a directory whose data are read when it is forgotten stays forgotten") {
    own_directories known;
    known.shared("/a", start);
    CHECK(known.ask("/a"));
    known.left("/a", made_here::no, start);
    known.take_due(start + quiet, many);
    known.visited("/a", found::nothing, start + quiet);
    known.answered("/a", origin::locks);
    CHECK(known.free("/a"));
    CHECK_FALSE(known.made_by_locks("/a"));
}

TEST_CASE("a directory's data are read until they say who has made it") {
    own_directories known;
    CHECK_FALSE(known.ask("/a")); // it is of no interest
    known.shared("/a", start);
    CHECK(known.ask("/a"));
    CHECK_FALSE(known.ask("/a")); // there is no answer yet
    known.answered("/a", origin::unknown);
    CHECK(known.ask("/a"));
    SUBCASE("locks") { known.answered("/a", origin::locks); }
    SUBCASE("another program") { known.answered("/a", origin::others); }
    SUBCASE("this client, meanwhile") {
        known.left("/a", made_here::yes, start);
        known.answered("/a", origin::others); // of the directory before
        CHECK(known.made_by_locks("/a"));
    }
    CHECK_FALSE(known.ask("/a"));
    known.left("/a", made_here::perhaps, start); // another one may be in its place
    CHECK(known.ask("/a"));
}
