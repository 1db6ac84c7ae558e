// The ids in the names of own nodes.

#include "rules/claims.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock::rules;

TEST_CASE("an id is claimed from before its use until its release") {
    claims ids;
    ids.begin(1);
    const auto a = ids.claim(), b = ids.claim();
    CHECK(a != b);
    CHECK(ids.claimed(a));
    CHECK(ids.count() == 2);
    ids.release(a);
    ids.release(a);
    CHECK_FALSE(ids.claimed(a));
    CHECK(ids.claimed(b));
    CHECK(ids.count() == 1);
}

TEST_CASE("a new session claims no id, and continues the numbers") {
    claims ids;
    ids.begin(1);
    const auto old = ids.claim();
    ids.begin(2);
    CHECK(ids.session() == 2);
    CHECK(ids.count() == 0);
    CHECK_FALSE(ids.claimed(old));
    CHECK(ids.claim() > old);
}

TEST_CASE("an id's text begins with the session's hex digits, and can be read back") {
    claims ids;
    for (const std::int64_t session : {1LL, 0x1234'5678'9abc'def0LL, -1LL}) {
        ids.begin(session);
        for (int i = 0; i < 20; ++i) {
            const auto id = ids.claim();
            CHECK(ids.text(id).size() == 36);
            CHECK(ids.parse(ids.text(id)) == id);
            CHECK(ids.parse(ids.digits(id)) == id);
        }
    }
    ids.begin(0x1234'5678'9abc'def0);
    CHECK(ids.text(0xfedc'ba98'7654'3210) == "12345678-9abc-def0-fedc-ba9876543210");
}

TEST_CASE("an id that was not claimed yet is not an own id, whoever writes it") {
    claims ids;
    ids.begin(1);
    const auto last = ids.claim();
    ids.release(last);
    CHECK(ids.parse(ids.text(last)) == last); // a create that was lost may still make its node
    for (const node_id id : {last + 1, node_id(0xffff'ffff'ffff), ~node_id(0)}) {
        CHECK_FALSE(ids.parse(ids.text(id)));
        CHECK_FALSE(ids.parse(ids.digits(id)));
    }
}

TEST_CASE("the ids of other sessions are not own ids") {
    claims ids, others;
    ids.begin(1);
    others.begin(2);
    CHECK_FALSE(ids.parse(others.text(1)));
    const auto before = ids.text(ids.claim());
    ids.begin(3);
    CHECK_FALSE(ids.parse(before));
}

TEST_CASE("a malformed id is not an own id") {
    claims ids;
    ids.begin(0x1234'5678'9abc'def0);
    const auto id = ids.claim();
    const auto good = ids.text(id);
    CHECK(ids.parse(good) == id);
    CHECK_FALSE(ids.parse(""));
    CHECK_FALSE(ids.parse(good.substr(1)));
    CHECK_FALSE(ids.parse(good + "0"));
    for (std::size_t at = 0; at < good.size(); ++at) {
        CAPTURE(at);
        auto bad = good;
        bad[at] = bad[at] == '-' ? '0' : 'x';
        CHECK_FALSE(ids.parse(bad));
        bad[at] = 'G';
        CHECK_FALSE(ids.parse(bad));
    }
}

TEST_CASE("before the first session no id is an own id") {
    const claims ids;
    CHECK(ids.session() == 0);
    CHECK_FALSE(ids.parse("00000000-0000-0000-0000-000000000001"));
}
