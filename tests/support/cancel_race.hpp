#pragma once

#include "lock_harness.hpp"
#include "way_out.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>

namespace paddock::test {

/// A cancellation races a grant, round after round: it comes before the answer that grants the
/// lock, together with it, or a moment later. That moment approaches the grant from both sides, so
/// either wins sometimes, however slow the machine is.
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
        // Not with a timer: the loop would handle arrived packets before it.
        const auto end = std::chrono::steady_clock::now() + pause_;
        while (round % 3 == 2 && std::chrono::steady_clock::now() < end)
            co_await asio::post(executor_, asio::use_awaitable);
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
    void adjust(bool granted) {
        if (granted)
            pause_ = pause_ * 2 / 3;
        else
            pause_ = won_ == 0 ? pause_ * 4 : pause_ * 3 / 2;
    }

    asio::any_io_executor executor_;
    fault_proxy& proxy_;
    std::chrono::nanoseconds pause_ = 1ms;
    int won_ = 0; ///< by the grant
    int left_ = 0;
};

} // namespace paddock::test
