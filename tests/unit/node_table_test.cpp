// The table of a lock queue's nodes: which blocks which, and who waits.

#include "rules/contender.hpp"
#include "rules/node_table.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>

using namespace paddock;
using rules::contender;
using rules::node_table;
using rules::role;

namespace {

/// A table of nodes that are written as letters: `x` and `s` are foreign, exclusive and shared,
/// `X` and `S` local waiters, `G` a granted exclusive one, `U` a local one whose blockers are not
/// known yet.
struct written_table {
    explicit written_table(const std::string& nodes, bool has_shared = true) : table(has_shared) {
        for (const char kind : nodes) {
            const auto n = static_cast<std::int32_t>(places.size());
            node_table::node node{.as =
                                      kind == 's' || kind == 'S' ? role::shared : role::exclusive};
            if (kind != 'x' && kind != 's') {
                auto& c = local.emplace_back();
                c.at = kind == 'G' ? contender::stage::granted : contender::stage::waiting;
                c.listed = kind != 'U';
                node.local = &c;
            }
            places.push_back(table.insert({n, "node-" + std::to_string(n)}, node));
        }
    }

    /// The place of a node; -1 for none.
    int place(node_table::const_iterator it) const {
        return it == table.end() ? -1 : it->first.sequence;
    }
    int blocker(std::size_t of) { return place(table.nearest_blocker(places[of])); }
    /// Of the first waiter behind a node that is removed.
    int behind(std::size_t removed) {
        const role as = places[removed]->second.as;
        return place(table.first_waiter_behind(table.erase(places[removed]), as));
    }

    node_table table;
    std::deque<contender> local;
    std::deque<node_table::iterator> places;
};

} // namespace

TEST_CASE("an exclusive node is blocked by the node before it") {
    written_table t("xsXG");
    CHECK(t.blocker(0) == -1);
    CHECK(t.blocker(2) == 1);
    CHECK(t.blocker(3) == 2);
}

TEST_CASE("a shared node is blocked by the last exclusive one before it") {
    written_table t("sSxsSS");
    CHECK(t.blocker(0) == -1);
    CHECK(t.blocker(1) == -1);
    CHECK(t.blocker(3) == 2);
    CHECK(t.blocker(5) == 2);
    CHECK_FALSE(t.table.exclusive_before(t.places[1]));
    CHECK(t.table.exclusive_before(t.places[5]));
}

TEST_CASE("a waiter is local, not granted, and knows its blockers") {
    written_table t("xXGUS");
    for (const std::size_t waiter : {1, 4})
        CHECK(t.table.is_waiter(t.places[waiter]));
    for (const std::size_t other : {0, 2, 3})
        CHECK_FALSE(t.table.is_waiter(t.places[other]));
    CHECK_FALSE(t.table.is_waiter(t.table.end()));
}

TEST_CASE("behind a removed node is the waiter whose nearest blocker it was") {
    CHECK(written_table("xX").behind(0) == 1);
    CHECK(written_table("xxX").behind(0) == -1);
    CHECK(written_table("xssSX").behind(0) == 3);
    CHECK(written_table("xssX").behind(0) == -1); // a shared node blocks it now
    CHECK(written_table("ssX").behind(1) == 2);
    CHECK(written_table("sS").behind(0) == -1);
    CHECK(written_table("xU").behind(0) == -1);
}

TEST_CASE("a node blocks a waiter if it is the nearest blocker of one") {
    const auto blocks = [](const std::string& nodes) {
        written_table t(nodes);
        return t.table.blocks_waiter(t.places[0]);
    };
    CHECK(blocks("xX"));
    CHECK(blocks("xsS"));
    CHECK(blocks("sX"));
    CHECK_FALSE(blocks("xxX"));
    CHECK_FALSE(blocks("xsX"));
    CHECK_FALSE(blocks("ssX"));
    CHECK_FALSE(blocks("sS"));
    CHECK_FALSE(blocks("xG"));
    CHECK_FALSE(blocks("x"));
}

TEST_CASE("what blocks a contender at a place is counted, and known without counting") {
    written_table t("sxsX");
    const auto at = [&](std::size_t n) { return n == 4 ? t.table.end() : t.places[n]; };
    const std::size_t exclusive[] = {0, 1, 2, 3, 4}, shared[] = {0, 0, 1, 1, 2};
    for (std::size_t n = 0; n <= 4; ++n) {
        CAPTURE(n);
        CHECK(t.table.count_before(at(n), role::exclusive) == exclusive[n]);
        CHECK(t.table.count_before(at(n), role::shared) == shared[n]);
        CHECK(t.table.blocked(at(n), role::exclusive) == (exclusive[n] > 0));
        CHECK(t.table.blocked(at(n), role::shared) == (shared[n] > 0));
    }
}

TEST_CASE("local shared nodes wait until they are granted or erased") {
    written_table t("sSSx");
    CHECK(t.table.waiting_shared().size() == 2);
    t.table.granted(t.places[1]);
    CHECK(t.table.waiting_shared().size() == 1);
    t.table.erase(t.places[2]);
    CHECK(t.table.waiting_shared().empty());
    CHECK(t.table.size() == 3);
}

TEST_CASE("a deleted node is remembered until a listing has not shown it") {
    written_table t("x");
    t.table.deleted("a");
    t.table.deleted("b");
    CHECK(t.table.was_deleted("a"));
    t.table.keep_deleted({"b"});
    CHECK_FALSE(t.table.was_deleted("a"));
    CHECK(t.table.was_deleted("b"));
    t.table.clear();
    CHECK_FALSE(t.table.was_deleted("b"));
    CHECK(t.table.empty());
}
