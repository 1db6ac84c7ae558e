// A process that forks while it holds a lock on Redis: the lock stays the parent's.

#include "support/redis_harness.hpp"
#include "support/run_until.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;

namespace {

/// The paddock objects of a process.
struct household {
    explicit household(std::size_t servers) {
        io.emplace(1);
        s.emplace(io->get_executor(), servers);
        waiter.emplace(*io, url_of(s->ports), new_servers());
        const auto asked = ask(s->lock);
        REQUIRE(run([&] { return asked->done(); }));
        lock = std::move(held(asked));
        REQUIRE(lock.valid());
        waiting = ask(redis::mutex(*waiter, s->name));
        REQUIRE(run([&] {
            const auto said = (*s->call[0])({"PUBSUB", "NUMSUB", "paddock:free:" + s->name});
            return said.items.at(1).number > 0;
        }));
    }

    template <class Predicate>
    bool run(Predicate predicate) {
        return run_until(*io, predicate);
    }

    /// The parent goes on as if nothing had happened.
    void check_undisturbed() {
        CHECK(lock.valid());
        const auto before = lock.valid_until();
        const auto asked = start([&](auto token) { lock.verify(std::move(token)); });
        CHECK(run([&] { return asked->done(); }));
        CHECK_FALSE(asked->error);
        CHECK(lock.valid_until() > before);
        CHECK_FALSE(waiting->done());
        CHECK(s->value().starts_with("pdk1:"));
        const auto end = give_back(lock);
        CHECK(run([&] { return end->done() && waiting->done(); }));
        CHECK_FALSE(end->error);
        CHECK(held(waiting).valid());
    }

    std::optional<asio::io_context> io;
    std::optional<redis_scene> s;
    std::optional<redis::client> waiter;
    lock_call waiting;
    guard lock;
};

/// Forks. The child runs `work` and ends without destructors: the servers belong to the parent.
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

} // namespace

TEST_CASE("a child has no lock, and may destroy its objects without any effect on its parent") {
    for (const std::size_t servers : {1, 3}) {
        household here(servers);
        const int wrong = wrong_in_child([&](auto claim) {
            claim(!here.lock.valid());
            claim(here.lock.valid_until() == boot_clock::time_point());
            here.lock = guard();
            here.waiter.reset();
            here.io.reset();
        });
        CHECK(wrong == 0);
        here.check_undisturbed();
    }
}

TEST_CASE(
    "a child whose event loop was notified of the fork has closed clients, and may use others") {
    for (const std::size_t servers : {1, 3}) {
        household here(servers);
        here.io->notify_fork(asio::execution_context::fork_prepare);
        const int wrong = wrong_in_child([&](auto claim) {
            here.io->notify_fork(asio::execution_context::fork_child);
            claim(!here.lock.valid());
            claim(here.run([&] { return here.waiting->done(); }));
            claim(here.waiting->error == errc::closed);
            const auto late = ask(here.s->lock);
            const auto end = give_back(here.lock);
            claim(here.run([&] { return late->done() && end->done(); }));
            claim(late->error == errc::closed && end->error == errc::lock_lost);
            redis::client own(*here.io, url_of(here.s->ports), new_servers());
            const auto connected = start([&](auto token) { own.connect(std::move(token)); });
            claim(here.run([&] { return connected->done(); }));
            const auto taken = ask_now(redis::mutex(own, here.s->name));
            claim(here.run([&] { return taken->done(); }));
            claim(!taken->error && !held(taken)); // the parent has it
            const auto asked = ask(redis::mutex(own, here.s->name + "'s child"));
            claim(here.run([&] { return asked->done(); }));
            claim(!asked->error && held(asked).valid());
            const auto released = give_back(held(asked));
            claim(here.run([&] { return released->done(); }));
            claim(!released->error);
            here.io.reset();
        });
        here.io->notify_fork(asio::execution_context::fork_parent);
        CHECK(wrong == 0);
        here.check_undisturbed();
    }
}
