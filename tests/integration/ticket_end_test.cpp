// How a ticket ends, without leaving a node or a watch.

#include "queue/lock_queues.hpp"
#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <thread>

using namespace paddock;
using namespace paddock::test;

namespace {

under_way<guard> acquired(ticket& t) {
    return start<guard>([&](auto token) { t.acquired(std::move(token)); });
}
under_way<std::size_t> change_of(ticket& t) {
    return start<std::size_t>([&](auto token) { t.next_change(std::move(token)); });
}

const std::vector<test::acl_entry> all_but_create{{31 - 4, "world", "anyone"}};

/// A contender that counts the reports of changes in the queue.
struct counting final : paddock::detail::queue_user {
    void granted(const std::string&, const fencing_token&) override { has_it = true; }
    void given_up() override {}
    void failed(error_code) override {}
    void lost(error_code) override {}
    void queue_changed() override { ++moves; }

    bool has_it = false;
    int moves = 0;
};

/// A lock whose queue lives as long as the scene.
struct queue_scene : scene {
    explicit queue_scene(asio::any_io_executor executor) : scene(executor) {}

    /// The number of reports to such a contender, from its call to its grant: zero when no ticket
    /// is left whose position could change.
    asio::awaitable<int> changes_reported() {
        const auto one = std::make_shared<counting>();
        paddock::detail::entry_terms terms;
        terms.nodes = std::make_shared<const paddock::detail::node_terms>(
            paddock::detail::metadata({}, std::string_view()), open_acl(), false);
        const auto key = queue->next_key();
        queue->join(key, one, terms);
        co_await eventually([&] { return one->has_it; });
        queue->release(key, false);
        co_await until_queue(0);
        co_return one->moves;
    }

    std::shared_ptr<paddock::detail::lock_queue> queue =
        paddock::detail::access::core_of(zk)->use<paddock::detail::lock_queues>().get(
            path, rules::naming("lock"));
};

} // namespace

CO_TEST("a ticket whose lock was revoked before acquired() fails with lock_lost") {
    mutex_options how;
    how.revocable = true;
    scene s(executor, {}, how);
    ticket place = co_await s.lock.enqueue();
    const auto mine = co_await s.lock.contenders();
    REQUIRE(mine.size() == 1);
    co_await s.lock.revoke(mine[0]);
    co_await s.until_queue(0); // no user code runs under it
    const auto end = acquired(place);
    co_await finished(end);
    CHECK(end->error == errc::lock_lost);
    CHECK_FALSE(held(end));
}

CO_TEST("a ticket whose lease has lapsed before acquired() fails with lock_lost") {
    for (const auto& round : test.each(std::array{false, true})) {
        const bool unheard = std::get<0>(round);
        scene s(executor, short_session(test.full_or_brief(2s, 1s)));
        ticket place = co_await s.lock.enqueue();
        co_await eventually([&] { return place.position() == 0 && s.queue().size() == 1; });
        s.proxy.hold(direction::down);
        const auto until = boot_clock::now() + s.zk.session_timeout();
        // The timer of the lease's end has fired before the call, or it has not.
        if (unheard)
            std::this_thread::sleep_until(std::chrono::steady_clock::now() +
                                          (until - boot_clock::now()));
        else
            co_await eventually([&] { return boot_clock::now() > until; });
        const auto end = acquired(place);
        s.proxy.release(direction::down);
        co_await finished(end);
        CHECK(end->error == errc::lock_lost);
        CHECK_FALSE(held(end));
        co_await s.until_queue(0);
    }
}

CO_TEST("next_change() ends when its ticket ends") {
    scene s(executor);
    {
        ticket place = co_await s.lock.enqueue();
        const auto change = change_of(place);
        const auto mine = acquired(place);
        co_await granted(mine);
        co_await finished(change);
        CHECK(change->error == asio::error::operation_aborted);
    }
    co_await s.until_queue(0);
    std::optional<ticket> place = co_await s.lock.enqueue();
    const auto change = change_of(*place);
    place.reset();
    co_await finished(change);
    CHECK(change->error == asio::error::operation_aborted);
    co_await s.until_queue(0);
}

CO_TEST("a cancellation after the grant leaves the guard as it is") {
    scene s(executor);
    ticket place = co_await s.lock.enqueue();
    co_await s.until_queue(1);
    const auto mine = acquired(place);
    asio::post(executor, [mine] { mine->cancel(); });
    co_await finished(mine);
    if (!mine->error) {
        const auto end = end_of(held(mine));
        s.direct.remove(std::string(held(mine).path()));
        co_await finished(end);
        CHECK(end->error == errc::node_deleted);
    }
    held(mine) = {};
    co_await s.until_queue(0);
}

CO_TEST("a ticket watches the queue only while its position may change") {
    queue_scene s(executor);
    {
        ticket waiting = co_await s.lock.enqueue();
        ticket behind = co_await s.lock.enqueue();
        const auto first = acquired(waiting);
        co_await granted(first);
        const auto told = change_of(behind);
        held(first) = {};
        co_await finished(told);
        const auto second = acquired(behind);
        co_await granted(second);
    }
    co_await s.until_queue(0);
    CHECK(co_await s.changes_reported() == 0); // granted, delivered and dropped

    { const ticket never_collected = co_await s.lock.enqueue(); }
    co_await s.until_queue(0);
    const auto before = queue_up(s.direct, s.path);
    {
        const ticket dropped_in_the_queue = co_await s.lock.enqueue();
        ticket place = co_await s.lock.enqueue();
        const auto cancelled = acquired(place);
        cancelled->cancel();
        co_await finished(cancelled);
        const auto entering = start<ticket>([&](auto token) { s.lock.enqueue(std::move(token)); });
        entering->cancel();
        co_await finished(entering);
    }
    co_await s.until_queue(1);
    s.direct.remove(before);
    CHECK(co_await s.changes_reported() == 0);
}

CO_TEST("a lost or refused ticket stops watching the queue") {
    queue_scene s(executor);
    {
        ticket place = co_await s.lock.enqueue();
        s.direct.remove(s.path + "/" + queue_at(s.direct, s.path).at(0));
        const auto change = change_of(place);
        co_await finished(change);
        CHECK(change->error == errc::lock_lost);
        const auto end = acquired(place);
        co_await finished(end);
        CHECK(end->error == errc::lock_lost);
    }
    CHECK(co_await s.changes_reported() == 0);
    s.direct.set_acl(s.path, all_but_create);
    const auto refused = start<ticket>([&](auto token) { s.lock.enqueue(std::move(token)); });
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    s.direct.set_acl(s.path, {test::acl_entry()});
    CHECK(co_await s.changes_reported() == 0);
}
