#pragma once

#include "lock_harness.hpp"
#include "way_out.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace paddock::test {

/// A cancellation races a grant, round after round: it comes before the answer that grants the
/// lock, together with it, or a moment later. That moment begins as the time that a grant takes,
/// and approaches the grant from both sides: either wins sometimes, however slow the machine is.
class cancel_race {
public:
    cancel_race(asio::any_io_executor executor, fault_proxy& proxy)
        : executor_(std::move(executor)), proxy_(proxy) {}

    /// `a` waits; `free_it` makes the server send that answer. A granted lock is released.
    template <class Free>
    asio::awaitable<void> meet(std::size_t round, lock_call a, Free free_it) {
        proxy_.hold(direction::down);
        free_it();
        co_await eventually([&] { return proxy_.waiting(direction::down) > 0; });
        if (round % 3 == 0) a->cancel();
        proxy_.release(direction::down);
        const auto begin = std::chrono::steady_clock::now();
        const auto leaves_at = begin + pause_.value_or(a_long_time);
        // Not with a timer: the loop would handle arrived packets before it.
        while (round % 3 == 2 && !a->done() && std::chrono::steady_clock::now() < leaves_at)
            co_await asio::post(executor_, asio::use_awaitable);
        if (round % 3 == 2 && !pause_) pause_ = std::chrono::steady_clock::now() - begin;
        a->cancel();
        co_await finished(a);
        if (a->error) {
            CHECK(a->error == asio::error::operation_aborted);
            ++left_;
        } else {
            CHECK(held(a).valid());
            ++won_;
            held(a) = guard();
        }
        if (round % 3 == 2) adjust(!a->error);
    }

    void check_both_have_won() const {
        CHECK(won_ > 0);
        CHECK(left_ > 0);
    }

private:
    void adjust(bool granted) { pause_ = granted ? *pause_ * 2 / 3 : *pause_ * 3 / 2; }

    static constexpr auto a_long_time = 10s; ///< for a grant that nobody leaves
    asio::any_io_executor executor_;
    fault_proxy& proxy_;
    std::optional<std::chrono::nanoseconds> pause_;
    int won_ = 0; ///< by the grant
    int left_ = 0;
};

} // namespace paddock::test
