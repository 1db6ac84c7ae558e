// The numbers of the statistics: consistent, bounded, and in the right place.

#include "observation/counts.hpp"
#include "observation/loop_probe.hpp"
#include "observation/series_table.hpp"
#include "support/function.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace paddock;
using namespace std::chrono_literals;
using detail::series_table;

TEST_CASE("numbers that change together are copied together") {
    detail::counts<2> both;
    std::atomic<bool> over = false;
    std::atomic<int> torn = 0;
    std::vector<std::thread> readers;
    for (int n = 0; n < 4; ++n)
        readers.emplace_back([&] {
            while (!over.load()) {
                const auto seen = both.copy();
                if (seen[0] != seen[1]) ++torn;
            }
        });
    for (int n = 0; n < 200'000; ++n) {
        detail::counts<2>::change now(both);
        now.add(0);
        now.add(1);
    }
    over = true;
    for (auto& one : readers)
        one.join();
    CHECK(torn == 0);
    CHECK(both.copy() == std::array<std::uint64_t, 2>{200'000, 200'000});
}

TEST_CASE("a bucket has the times up to its bound, and the bound itself") {
    CHECK(detail::bucket_of(0ms) == 0);
    CHECK(detail::bucket_of(1ms) == 0);
    CHECK(detail::bucket_of(1ms + 1ns) == 1);
    CHECK(detail::bucket_of(300s) == 11);
    CHECK(detail::bucket_of(300s + 1ns) == 12);
    CHECK(detail::bucket_of(24h * 365) == 12);
}

TEST_CASE("a series tells waits by outcome, and holds by their ends") {
    series_table table;
    auto& one = table.add("/a", lock_kind::mutex, "")->series;
    one.wait_begins();
    one.wait_begins();
    one.wait_begins();
    one.wait_ends(3ms, wait_outcome::granted);
    one.hold_begins();
    one.wait_ends(2s, wait_outcome::timeout);
    one.hold_ends(20ms, errc::released);
    one.hold_begins();
    one.hold_begins();
    one.hold_ends(1s, errc::session_expired);
    one.hold_ends(1s, errc::bad_argument); // no reason that is known
    one.hold_begins();
    const auto all = table.copy();
    REQUIRE(all.size() == 1);
    const auto& seen = all[0];
    CHECK(seen.group == "/a");
    CHECK(seen.waiters == 1);
    CHECK(seen.holds == 1);
    CHECK(seen.granted() == 1);
    CHECK(seen.waited_until(wait_outcome::granted).counts[1] == 1);
    CHECK(seen.waited_until(wait_outcome::granted).sum == 3ms);
    CHECK(seen.waited_until(wait_outcome::timeout).counts[7] == 1);
    CHECK(seen.waited_until(wait_outcome::busy).count() == 0);
    CHECK(seen.released.count() == 1);
    CHECK(seen.released.sum == 20ms);
    CHECK(seen.lost.count() == 2);
    CHECK(seen.lost.sum == 2s);
    std::uint64_t losses = 0;
    for (const auto& loss : seen.losses) {
        losses += loss.count;
        CHECK(loss.count == (loss.why == errc::session_expired || loss.why == errc::closed));
    }
    CHECK(losses == 2);
}

TEST_CASE("locks of one group and kind share a series, which exists before they are used") {
    series_table table;
    const auto a = table.add("orders", lock_kind::mutex, "one");
    const auto b = table.add("orders", lock_kind::mutex, "two");
    const auto c = table.add("orders", lock_kind::semaphore, "");
    CHECK(&a->series == &b->series);
    CHECK(&a->series != &c->series);
    CHECK(a->label == "one");
    CHECK(b->label == "two");
    const auto all = table.copy();
    REQUIRE(all.size() == 2);
    CHECK(all[0].kind == lock_kind::mutex);
    CHECK(all[1].kind == lock_kind::semaphore);
}

TEST_CASE("a million paths make a thousand series, and those of the others") {
    series_table table;
    for (int n = 0; n < 1'000'000; ++n)
        table.add("/jobs/" + std::to_string(n), n % 2 == 0 ? lock_kind::mutex : lock_kind::election,
                  "");
    const auto all = table.copy();
    REQUIRE(all.size() == series_table::most + 2);
    CHECK(all[0].group == "/jobs/0");
    CHECK(all[series_table::most].group == series_table::others);
    CHECK(all[series_table::most + 1].group == series_table::others);
    CHECK(all[series_table::most].kind != all[series_table::most + 1].kind);
    CHECK(&table.add("/new", lock_kind::mutex, "")->series ==
          &table.add("/newer", lock_kind::mutex, "")->series);
    CHECK(table.add("/jobs/998", lock_kind::mutex, "")->series.group() == "/jobs/998");
}

TEST_CASE("a probe tells how long a loop has not run, and no more once it has") {
    detail::loop_probe probe;
    std::vector<unique_function<void()>> loop;
    const auto post = [&](auto task) { loop.emplace_back(std::move(task)); };
    const boot_clock::time_point start(1h);
    CHECK(probe.look(start, post) == 0s);
    CHECK(probe.look(start + 3s, post) == 3s);
    CHECK(probe.look(start + 7s, post) == 7s);
    REQUIRE(loop.size() == 1); // however often one looks
    loop[0]();
    CHECK(probe.look(start + 8s, post) == 0s);
    CHECK(loop.size() == 2);
}
