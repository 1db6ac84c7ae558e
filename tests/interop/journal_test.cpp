// The check finds the faults that the other tests look for.

#include "journal.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

TEST_CASE("the journal shows a grant while another process holds the lock") {
    const entry a{"in", "p.0", 1, 1}, b{"in", "q.0", 1, 2}, out{"out", "p.0"};
    CHECK(judge({a, b}, 1).complaints.size() == 1);
    CHECK(judge({a, out, b}, 1).complaints.empty());
    CHECK(judge({a, b}, 2).complaints.empty());
    CHECK(judge({a, b}, 2).together == 2);
    CHECK(judge({a, out, out}, 1).complaints.size() == 1);
    CHECK(judge({a, {"in", "p.0", 1, 3}}, 2).complaints.size() == 1);
}

TEST_CASE("a killed process's holds end, and other holds do not") {
    const entry a{"in", "p.0", 1, 1}, b{"in", "pq.0", 1, 2}, dead{"dead", "p"};
    CHECK(judge({a, dead, b}, 1).complaints.empty());
    CHECK(judge({b, dead, a}, 1).complaints.size() == 2); // and too late
}

TEST_CASE("the journal shows a grant out of order, and readers have no order among themselves") {
    const entry reader{"in", "p.0", 1, 5}, writer{"in", "q.0", 3, 6};
    const auto after = [](const entry& first, const entry& second) {
        return judge({first, {"out", first.contender}, second}, 3).complaints.size();
    };
    CHECK(after(reader, writer) == 0);
    CHECK(after(writer, reader) == 1);
    CHECK(after(writer, {"in", "q.0", 1, 6}) == 0); // it has become a reader
    CHECK(after(writer, {"in", "r.0", 3, 4}) == 1);
    CHECK(after(reader, {"in", "r.0", 1, 4}) == 0);
    CHECK(after(writer, {"in", "r.0", 1, std::nullopt}) == 0);
}

TEST_CASE("a journal is counted by process") {
    const auto all = judge({{"in", "p.0", 1, 1},
                            {"gave-up", "p.1"},
                            {"out", "p.0"},
                            {"in", "q.0", 1, 2},
                            {"done", "p"}},
                           1);
    CHECK(all.granted() == 2);
    CHECK(all.processes.at("p").gave_up == 1);
    CHECK(all.processes.at("p").done);
    CHECK_FALSE(all.processes.at("q").done);
    CHECK(all.inside.contains("q.0"));
}
