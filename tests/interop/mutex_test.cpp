// paddock's mutex and the locks of other programs, alive, at one path of a real server.

#include "peers.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

namespace {

constexpr int enough = 300;
constexpr auto paddock_peer = language::paddock;
constexpr auto curator = language::curator;
constexpr auto kazoo = language::kazoo;

} // namespace

TEST_CASE("paddock and Curator's InterProcessMutex take turns, in order") {
    arena a(patient_server());
    take_turns(a, {{paddock_peer, "paddock"}, {curator, "curator"}}, enough, 1. / 3);
}

TEST_CASE(
    "a lock family and Curator's InterProcessMutex at the path of a key take turns, in order") {
    arena a(patient_server());
    take_turns(a, {{paddock_peer, "paddock", "lock_family"}, {curator, "curator"}}, enough, 1. / 3);
}

TEST_CASE("paddock and a kazoo Lock with extra_lock_patterns take turns, in order") {
    arena a(patient_server());
    take_turns(a, {{paddock_peer, "paddock"}, {kazoo, "kazoo", "waiting_lock"}}, enough, 1. / 3);
}

TEST_CASE("paddock, Curator and a kazoo Lock with Curator's names take turns, in order") {
    arena a(patient_server());
    take_turns(a,
               {{paddock_peer, "paddock"}, {curator, "curator"}, {kazoo, "kazoo", "curator_lock"}},
               enough, 1. / 5);
}

TEST_CASE("paddock with kazoo's names and a kazoo Lock as it is take turns, in order") {
    arena a(patient_server(), 1, {"", "0123456789abcdef0123456789abcdef__lock__"});
    take_turns(a, {{paddock_peer, "paddock", "kazoo_mutex"}, {kazoo, "kazoo", "lock"}}, enough,
               1. / 3);
}

TEST_CASE("a sticky paddock does not starve Curator and a kazoo Lock") {
    const peer_terms sticky{paddock_peer, "sticky", "sticky_mutex", 12};
    arena a(patient_server());
    take_turns(a, {sticky, {curator, "curator"}, {kazoo, "kazoo", "curator_lock"}}, enough,
               1. / 10);
}
