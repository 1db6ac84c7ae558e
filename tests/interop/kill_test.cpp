// Processes that are killed while they hold the lock, or wait for it.

#include "peers.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto paddock_peer = language::paddock;
constexpr auto curator = language::curator;
constexpr auto kazoo = language::kazoo;

/// A contender with a short session: the server deletes its nodes soon after it was killed.
peer_terms victim(language program, const std::string& mode) {
    return {program, "victim", program == kazoo ? "curator_lock" : "mutex", 1, mode, 2s};
}

void no_complaints(const arena& a) {
    for (const auto& complaint : a.so_far().complaints)
        FAIL_CHECK(complaint);
}

} // namespace

TEST_CASE("a waiter behind a killed holder is granted the lock, and not before its session ends") {
    for (const auto program : {paddock_peer, curator, kazoo}) {
        CAPTURE(static_cast<int>(program));
        arena a(patient_server());
        a.start(victim(program, "hold")); // makes the directory, too
        a.until_inside("victim");
        a.start({paddock_peer, "paddock"});
        std::vector<std::string> others{"paddock", "other"};
        // Java needs a while to start and see the queue; Python starts quicker.
        if (program == paddock_peer)
            a.start({curator, "other"});
        else
            a.start({kazoo, "other", "curator_lock"});
        a.until_queue(7);
        a.kill("victim");
        a.until_more(others, 20);
        a.finish();
        no_complaints(a);
    }
}

TEST_CASE("a waiter behind a killed waiter is not stopped by it") {
    for (const auto program : {paddock_peer, curator}) {
        CAPTURE(static_cast<int>(program));
        const auto behind = program == paddock_peer ? curator : paddock_peer;
        arena a(patient_server());
        a.start({kazoo, "holder", "curator_lock", 1, "hold"});
        a.until_inside("holder");
        a.start(victim(program, "loop"));
        a.until_queue(2);
        a.start({behind, "behind"});
        a.until_queue(5);
        a.kill("victim");
        a.tell_to_stop("holder");
        a.until_ended("holder");
        a.until_more({"behind"}, 20);
        a.finish();
        no_complaints(a);
    }
}

TEST_CASE("processes that are killed at any moment neither stop nor disturb other processes") {
    arena a(patient_server());
    const std::vector<std::string> others{"paddock", "kazoo"};
    a.start({paddock_peer, "paddock"});
    a.start({kazoo, "kazoo", "curator_lock"});
    for (const auto program : {paddock_peer, curator, kazoo}) {
        CAPTURE(static_cast<int>(program));
        a.start(victim(program, "loop"));
        a.until_more({"victim"}, 10);
        a.kill("victim");
        a.until_more(others, 20);
    }
    a.finish();
    no_complaints(a);
}
