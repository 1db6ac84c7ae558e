// The other locks of the family, and Curator's of the same kind, at one path.

#include "peers.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;

namespace {

constexpr int enough = 200;
constexpr auto paddock_peer = language::paddock;
constexpr auto curator = language::curator;

std::string protected_name(const std::string& marker) {
    return "_c_deadbeef-0000-4000-8000-000000000000-" + marker;
}

/// Both sides, equally strong.
void take_turns_with_curator(arena& a, const std::string& kind) {
    take_turns(a, {{paddock_peer, "paddock", kind}, {curator, "curator", kind}}, enough, 1. / 3);
}

} // namespace

// paddock's writers turn into readers now and then.
TEST_CASE("paddock's shared_mutex and Curator's InterProcessReadWriteLock respect each other") {
    constexpr int more_than_all_readers = 10; // a writer takes all of it
    arena a(patient_server(), more_than_all_readers, {"", protected_name("__WRIT__")});
    take_turns_with_curator(a, "shared_mutex");
}

TEST_CASE("paddock's election and Curator's LeaderLatch have one leader at a time, in order") {
    arena a(patient_server(), 1, {"", protected_name("latch-")});
    take_turns_with_curator(a, "election");
}
