// A process that forks while it holds a lock: the session stays the parent's.

#include "support/lock_harness.hpp"
#include "support/run_until.hpp"
#include "support/stall_meter.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto session_timeout = 4s;

/// The paddock objects of a process; all of them can be destroyed at any time.
struct household {
    household() {
        io.emplace(1);
        zk.emplace(io->get_executor(), shared_server().address(), short_session(session_timeout));
        lock.emplace(*zk, path);
        const auto asked = ask(*lock);
        REQUIRE(run([&] { return asked->done(); }));
        guard_ = std::move(held(asked));
        REQUIRE(guard_.valid());
        const lock_family keys(*zk, path + "-keys");
        const auto asked_by_key =
            start<guard>([&](auto token) { keys.lock("key", std::move(token)); });
        REQUIRE(run([&] { return asked_by_key->done(); }));
        of_key = std::move(held(asked_by_key));
    }

    template <class Predicate>
    bool run(Predicate predicate) {
        return run_until(*io, predicate);
    }

    guard& lock_held() { return guard_; }

    const std::string path = fresh_root();
    std::optional<asio::io_context> io;
    std::optional<client> zk;
    std::optional<mutex> lock;
    guard of_key; ///< its client deletes the key's directory when it closes

private:
    guard guard_;
};

/// Forks. The child runs `work` and ends at once, without destructors: the test's objects, the
/// server above all, belong to the parent. Returns how many of the child's claims were wrong.
template <class Work>
int wrong_in_child(Work work) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int wrong = 0;
        work([&](bool claim) { wrong += claim ? 0 : 1; });
        ::_exit(wrong);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The parent goes on as if nothing had happened: the lock stays its own for longer than a session
/// timeout, and so does the session; then it is released.
void check_undisturbed(household& here, foreigner& direct, const std::string& behind) {
    const stall_meter stalls;
    const auto forked = boot_clock::now();
    auto& g = here.lock_held();
    asio::steady_timer timer(*here.io, 200ms); // the child had the same timer descriptor
    bool fired = false;
    timer.async_wait([&](error_code) { fired = true; });
    CHECK(here.run([&] { return fired; }));
    CHECK(boot_clock::now() - forked < scaled(800ms) + stalls.allowance());
    CHECK(here.run([&] { return !g.valid() || g.valid_until() > forked + session_timeout; }));
    CHECK(g.valid());
    CHECK(here.zk->state() == client_state::connected);
    CHECK(here.zk->epoch() == 1);
    CHECK(queue_at(direct, here.path).size() == 2);
    CHECK(here.of_key.valid());
    CHECK(direct.exists(std::string(here.of_key.path())));
    mutex other(*here.zk, here.path, {.name = "other"});
    const auto asked = ask(other);
    REQUIRE(here.run([&] { return asked->done(); }));
    CHECK_FALSE(asked->error);
    held(asked) = guard();
    const auto end = give_back(g);
    CHECK(here.run([&] { return end->done(); }));
    CHECK_FALSE(end->error);
    CHECK(queue_at(direct, here.path).size() == 1);
    const auto end_by_key = give_back(here.of_key);
    CHECK(here.run([&] { return end_by_key->done(); }));
    CHECK_FALSE(end_by_key->error);
    CHECK(direct.exists(behind));
}

struct family {
    household here;
    foreigner direct{shared_server().address()};
    std::string behind = queue_up(direct, here.path);
};

} // namespace

TEST_CASE("a child that exits leaves its parent's session and lock alone") {
    family f;
    auto& here = f.here;
    auto& direct = f.direct;
    const auto& behind = f.behind;
    bool told = false;
    SUBCASE("its event loop was notified of the fork") { told = true; }
    SUBCASE("its event loop was not notified") {}
    if (told) here.io->notify_fork(asio::execution_context::fork_prepare);
    const int wrong = wrong_in_child([&](auto claim) {
        claim(!here.lock_held().valid());
        claim(here.lock_held().valid_until() == boot_clock::time_point());
        if (told) here.io->notify_fork(asio::execution_context::fork_child);
        here.io.reset(); // as exit() does with one that is static
        claim(!here.lock_held().valid());
        here.lock_held() = guard();
        here.lock.reset();
        here.zk.reset();
    });
    if (told) here.io->notify_fork(asio::execution_context::fork_parent);
    CHECK(wrong == 0);
    check_undisturbed(here, direct, behind);
}

namespace {

/// `work(here, claim)` is what the child does with its copy.
template <class Work>
void check_child_is_harmless(Work work) {
    family f;
    auto& here = f.here;
    auto& direct = f.direct;
    const auto& behind = f.behind;
    CHECK(wrong_in_child([&](auto claim) { work(here, claim); }) == 0);
    check_undisturbed(here, direct, behind);
}

} // namespace

TEST_CASE("a child may destroy its paddock objects in any order without any effect on its parent") {
    check_child_is_harmless([](household& here, auto) {
        here.lock_held() = guard();
        here.zk.reset();
        here.io.reset();
    });
}

#if !defined(PADDOCK_TEST_SANITIZED) // which need descriptors to look at an object of a new type
TEST_CASE("a child that has no file descriptor left leaves its parent alone, too") {
    check_child_is_harmless([](household& here, auto claim) {
        const rlimit none{3, 3};
        claim(::setrlimit(RLIMIT_NOFILE, &none) == 0);
        here.io.reset();
    });
}
#endif

TEST_CASE("a child that connects or locks right after the fork disturbs no other process") {
    family f;
    auto& here = f.here;
    auto& direct = f.direct;
    const auto& behind = f.behind;
    client connecting(here.io->get_executor(), shared_server().address());
    connecting.connect([](error_code) {});
    here.io->poll();
    mutex same(*here.zk, here.path);
    const auto waiting = ask(same);
    here.io->poll();
    const int wrong = wrong_in_child([&](auto) { here.io.reset(); });
    CHECK(wrong == 0);
    CHECK(here.run([&] { return connecting.state() == client_state::connected; }));
    waiting->cancel();
    CHECK(here.run([&] { return waiting->done() && queue_at(direct, here.path).size() == 2; }));
    check_undisturbed(here, direct, behind);
}

TEST_CASE("a child whose event loop was notified of the fork may use it again") {
    family f;
    auto& here = f.here;
    auto& direct = f.direct;
    const auto& behind = f.behind;
    mutex same(*here.zk, here.path);
    const auto waiting = ask(same);
    REQUIRE(here.run([&, path = here.path] { return queue_at(direct, path).size() == 3; }));
    here.io->notify_fork(asio::execution_context::fork_prepare);
    const int wrong = wrong_in_child([&](auto claim) {
        here.io->notify_fork(asio::execution_context::fork_child);
        claim(here.zk->state() == client_state::closed);
        claim(here.run([&] { return waiting->done(); }));
        claim(waiting->error == errc::closed);
        const auto late = ask(*here.lock);
        const auto end = give_back(here.lock_held());
        claim(here.run([&] { return late->done() && end->done(); }));
        claim(late->error == errc::closed && end->error == errc::lock_lost);
        // A client of its own, on the same event loop.
        client own(here.io->get_executor(), shared_server().address());
        mutex its(own, here.path, {.name = "child"});
        const auto asked = ask(its);
        claim(here.run([&] { return asked->done(); }));
        claim(!asked->error && held(asked).valid());
        const auto released = give_back(held(asked));
        claim(here.run([&] { return released->done(); }));
        claim(!released->error);
        here.io.reset();
    });
    here.io->notify_fork(asio::execution_context::fork_parent);
    CHECK(wrong == 0);
    waiting->cancel();
    CHECK(here.run([&] { return waiting->done() && queue_at(direct, here.path).size() == 2; }));
    check_undisturbed(here, direct, behind);
}
