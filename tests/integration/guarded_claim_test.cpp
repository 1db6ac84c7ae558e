// Claim, then read: a guarded operation claims its token before it reads its data, and why.

#include "support/guarded_harness.hpp"

#include <boost/asio/redirect_error.hpp>
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <stdexcept>

using namespace paddock;
using namespace paddock::test;
using outcome = guarded_outcome;

namespace {

/// A claim that is under way until it is cancelled, and then returns a given result.
struct slow_claim {
    bool begun = false;
    std::optional<bool> says; ///< nothing: it throws

    asio::awaitable<bool> operator()(fencing_token) {
        begun = true;
        try {
            co_await for_an_hour();
        } catch (const system_error&) {
            if (!says) throw;
        }
        co_return *says;
    }
};

const std::array<std::optional<bool>, 3> ways{std::nullopt, true, false};

} // namespace

CO_TEST("the token is claimed before the first read; nothing is read when it is refused") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const auto& round : test.each(std::array{true, false})) {
        const bool ours = std::get<bool>(round);
        shelf goods;
        goods.steps.claim = [&](fencing_token token) -> asio::awaitable<bool> {
            goods.done.push_back("claim");
            CHECK(token == g.fencing_token());
            co_return ours;
        };
        const auto result = co_await guarded(g, goods.steps);
        if (ours) {
            expect(result, outcome::committed, {});
            CHECK(goods.done == journal{"claim", "record", "operate", "commit"});
        } else {
            expect(result, outcome::nothing_done, errc::lock_lost);
            CHECK(goods.done == journal{"claim"});
            CHECK(goods.goods == 10);
        }
    }
}

CO_TEST("a failed claim is reported to the caller, and nothing is done") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    shelf goods;
    goods.steps.claim = [](fencing_token) -> asio::awaitable<bool> {
        throw std::runtime_error("no such store");
        co_return true;
    };
    const auto result = co_await guarded(g, goods.steps);
    expect(result, outcome::nothing_done, {});
    CHECK(text_in(result.reason) == "no such store");
    CHECK(goods.done.empty());
}

CO_TEST("a claim during which the lock is lost is cancelled, and nothing is done") {
    scene s(executor);
    for (const auto& round : test.each(ways)) {
        const guard g = co_await s.lock.lock();
        shelf goods;
        slow_claim slow{false, std::get<0>(round)};
        goods.steps.claim = std::ref(slow);
        const auto way = begin(executor, g, goods.steps);
        co_await eventually([&] { return slow.begun; });
        s.direct.remove(std::string(g.path()));
        co_await ended(way);
        expect(way->end(), outcome::nothing_done, errc::lock_lost);
        CHECK(goods.done.empty());
    }
}

CO_TEST("a cancelled claim ends the run, whatever its result") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    for (const auto& round : test.each(ways)) {
        shelf goods;
        slow_claim slow{false, std::get<0>(round)};
        goods.steps.claim = std::ref(slow);
        const auto way = begin(executor, g, goods.steps);
        co_await eventually([&] { return slow.begun; });
        way->cancel(asio::cancellation_type::total);
        co_await ended(way);
        const bool refused = slow.says == false;
        expect(way->end(), outcome::nothing_done,
               refused ? error_code(errc::lock_lost) : asio::error::operation_aborted);
        CHECK(goods.done.empty());
        CHECK(g.valid());
    }
}

CO_TEST("a transaction needs no claim, but may have one") {
    scene s(executor);
    const guard g = co_await s.lock.lock();
    const auto node = s.path + "-data";
    for (const auto& round : test.each(std::array{false, true})) {
        const bool with = std::get<bool>(round);
        shelf goods;
        if (!with) goods.steps.claim = nullptr;
        goods.steps.commit = [&](int&) {
            return std::vector<operation>{op::create{node, "seven"}};
        };
        const auto result = co_await guarded(g, goods.steps);
        expect(result, outcome::committed, {});
        CHECK(goods.claimed == (with ? g.fencing_token() : fencing_token{}));
        s.direct.remove(node);
    }
}
