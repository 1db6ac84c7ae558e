// The other kinds of locks, with Curator's of the same kind at one path.

#include "peers.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr int enough = 200;
constexpr auto paddock_peer = language::paddock;
constexpr auto curator = language::curator;

std::string protected_name(const std::string& marker) {
    return "_c_deadbeef-0000-4000-8000-000000000000-" + marker;
}

/// The least share of one of two sides that are equally strong.
constexpr double in_turns = 1. / 3;
/// Readers do not take turns: the faster process reads more often while the other one reads.
constexpr double beside_readers = 1. / 10;

/// Both sides, equally strong.
void take_turns_with_curator(arena& a, const std::string& kind, double share = in_turns) {
    take_turns(a, {{paddock_peer, "paddock", kind}, {curator, "curator", kind}}, enough, share);
}

/// One process of each side is killed at any point; the rest go on.
void survive_kills(arena& a, const std::string& kind) {
    const std::vector<std::string> others{"paddock", "curator"};
    const std::vector<std::string> victims{"paddock-victim", "curator-victim"};
    a.start({paddock_peer, "paddock", kind});
    a.start({curator, "curator", kind});
    a.start({paddock_peer, "paddock-victim", kind, 2, "loop", 2s});
    a.start({curator, "curator-victim", kind, 2, "loop", 2s});
    a.until_more(victims, 10);
    for (const auto& victim : victims)
        a.kill(victim);
    a.until_more(others, 20);
    a.finish();
    for (const auto& complaint : a.so_far().complaints)
        FAIL_CHECK(complaint);
}

constexpr int more_than_all_readers = 10; // a writer takes all of it

} // namespace

// paddock's writers downgrade now and then.
TEST_CASE("paddock's shared_mutex and Curator's InterProcessReadWriteLock respect each other") {
    arena a(patient_server(), more_than_all_readers, {"", protected_name("__WRIT__")});
    take_turns_with_curator(a, "shared_mutex", beside_readers);
}

TEST_CASE("paddock's election and Curator's LeaderLatch have one leader at a time, in order") {
    arena a(patient_server(), 1, {"", protected_name("latch-")});
    take_turns_with_curator(a, "election");
}

TEST_CASE("readers and writers go on when some processes are killed") {
    arena a(patient_server(), more_than_all_readers);
    survive_kills(a, "shared_mutex");
}

TEST_CASE("an election goes on when some participants are killed") {
    arena a(patient_server());
    survive_kills(a, "election");
}

TEST_CASE("paddock's semaphore and Curator's InterProcessSemaphoreV2 share the permits") {
    arena a(patient_server(), 3, {"/locks"});
    take_turns_with_curator(a, "semaphore");
}

TEST_CASE("paddock's semaphore of one permit and Curator's InterProcessSemaphoreMutex take turns") {
    arena a(patient_server(), 1, {"/locks"});
    take_turns_with_curator(a, "semaphore_mutex");
}

TEST_CASE("the permits of killed processes go to other processes") {
    // Curator takes two permits one by one; with fewer of them its two such contenders could keep
    // one each, and wait for ever.
    arena a(patient_server(), 4, {"/locks"});
    survive_kills(a, "semaphore");
}

TEST_CASE("paddock's recursive_mutex and Curator's InterProcessMutex take turns, in order") {
    arena a(patient_server());
    take_turns(a, {{paddock_peer, "paddock", "recursive_mutex"}, {curator, "curator"}}, enough,
               in_turns);
}

// Its readers sometimes write first.
TEST_CASE("paddock's recursive_shared_mutex and Curator's lock respect each other, too") {
    arena a(patient_server(), more_than_all_readers);
    take_turns(
        a,
        {{paddock_peer, "paddock", "recursive_shared_mutex"}, {curator, "curator", "shared_mutex"}},
        enough, beside_readers);
}
