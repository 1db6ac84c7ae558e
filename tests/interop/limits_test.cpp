// Which programs exclude each other at one path, and which do not, as in the table of README.md.

#include "peers.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto paddock_peer = language::paddock;
constexpr auto curator = language::curator;
constexpr auto kazoo = language::kazoo;

peer_terms holder(language program, const std::string& name, const std::string& kind) {
    return {program, name, kind, 1, "hold"};
}

/// The second comes while the first holds, and waits until that one has released the lock.
void waits(const peer_terms& first, const peer_terms& second) {
    arena a(patient_server());
    a.start(first);
    a.until_inside(first.name);
    a.start(second);
    a.until_watched();
    CHECK(a.so_far().granted() == 1);
    a.tell_to_stop(first.name);
    a.until_ended(first.name);
    a.until_inside(second.name);
    a.finish();
    CHECK(a.so_far().complaints.empty());
}

/// The second comes while the first holds, and is granted the lock, too.
void does_not_wait(const peer_terms& first, const peer_terms& second) {
    arena a(patient_server());
    a.start(first);
    a.until_inside(first.name);
    a.start(second);
    a.until_inside(second.name);
    CHECK(a.so_far().complaints.size() == 1);
    a.finish();
}

/// Waits until the server has looked for empty containers after this call.
void until_containers_are_reaped(arena& a) {
    for (int pass = 0; pass < 2; ++pass) { // the first one may be under way
        const auto control = fresh_root();
        a.direct().create(control, "", node_mode::container);
        a.direct().remove(a.direct().create(control + "/child"));
        a.until("an empty container is deleted", [&] { return !a.direct().exists(control); });
    }
}

} // namespace

TEST_CASE("paddock waits for every kazoo lock; a default kazoo lock does not wait for paddock") {
    waits(holder(kazoo, "kazoo", "lock"), holder(paddock_peer, "paddock", "mutex"));
    does_not_wait(holder(paddock_peer, "paddock", "mutex"), holder(kazoo, "kazoo", "lock"));
    waits(holder(paddock_peer, "paddock", "mutex"), holder(kazoo, "kazoo", "waiting_lock"));
}

TEST_CASE("every kazoo lock waits for paddock's nodes with kazoo's names; Curator does not") {
    const auto paddock = holder(paddock_peer, "paddock", "kazoo_mutex");
    waits(paddock, holder(kazoo, "kazoo", "lock"));
    waits(holder(curator, "curator", "mutex"), paddock);
    does_not_wait(paddock, holder(curator, "curator", "mutex"));
}

TEST_CASE("Curator waits only for a kazoo lock with Curator's names") {
    does_not_wait(holder(kazoo, "kazoo", "waiting_lock"), holder(curator, "curator", "mutex"));
    waits(holder(kazoo, "kazoo", "curator_lock"), holder(curator, "curator", "mutex"));
}

TEST_CASE("paddock waits for a kazoo Lock that is only renamed, as Curator does") {
    const auto renamed = holder(kazoo, "kazoo", "renamed_lock");
    waits(renamed, holder(curator, "curator", "mutex"));
    waits(renamed, holder(paddock_peer, "paddock", "mutex"));
}

TEST_CASE("a kazoo Lock that is used again needs paddock's parents to be persistent") {
    zk_server_options quick;
    quick.container_check_interval = 50ms;
    zk_server server(quick);
    for (const bool persistent : {false, true}) {
        arena a(server);
        auto paddock = holder(paddock_peer, "paddock", "mutex");
        paddock.persistent_parents = persistent;
        a.start(paddock); // makes the directory
        a.until_inside("paddock");
        a.start({kazoo, "kazoo", "waiting_lock", 1, "twice"});
        a.until_watched();
        a.tell_to_stop("paddock");
        a.until_ended("paddock");
        a.until("kazoo has had the lock", [&] {
            return a.so_far().processes["kazoo"].granted == 1 && a.so_far().inside.empty();
        });
        a.until_queue(0);
        until_containers_are_reaped(a);
        CHECK(a.direct().exists(a.path()) == persistent);
        a.tell_to_stop("kazoo");
        a.until_ended("kazoo");
        CHECK(a.so_far().processes["kazoo"].done == persistent);
        CHECK((a.said("kazoo").find("NoNodeError") == std::string::npos) == persistent);
    }
}
