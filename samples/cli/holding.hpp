// What a command holds while it runs: one lock, or several.
#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lock_all.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace cli {

namespace asio = boost::asio;

class holding {
public:
    holding() = default;
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;
    virtual ~holding() = default;

    virtual paddock::boot_clock::time_point valid_until() const = 0;
    // Cancelled, the next two return at once: exceptions take longer than the rest of a short hold.
    /// Waits until the hold is lost, and returns why.
    virtual asio::awaitable<paddock::error_code> lost() const = 0;
    /// Waits until somebody asks for the lock, and is true; false when the hold ends.
    virtual asio::awaitable<bool> asked() const = 0;
    virtual asio::awaitable<void> unlock() = 0;
    /// The guard; of several locks the first one.
    virtual const paddock::guard& first() const = 0;
    /// The fencing tokens, a line for each lock; empty without.
    virtual std::string tokens() const = 0;
};

/// By one guard, or a guard_set.
template <typename Guard>
class held_by final : public holding {
public:
    explicit held_by(Guard held) : held_(std::move(held)) {}

    paddock::boot_clock::time_point valid_until() const override { return held_.valid_until(); }
    asio::awaitable<paddock::error_code> lost() const override {
        const auto [failed, why] = co_await held_.lost(asio::as_tuple(asio::use_awaitable));
        co_return why;
    }
    asio::awaitable<bool> asked() const override {
        const auto [failed] =
            co_await first().revoke_requested(asio::as_tuple(asio::use_awaitable));
        co_return !failed;
    }
    asio::awaitable<void> unlock() override {
        co_await held_.unlock(asio::as_tuple(asio::use_awaitable));
    }
    const paddock::guard& first() const override { return at(0); }
    std::string tokens() const override {
        std::string lines;
        for (std::size_t n = 0; n < size() && at(n).has_token(); ++n)
            lines += (lines.empty() ? "" : "\n") + to_string(at(n).fencing_token());
        return lines;
    }

private:
    static constexpr bool one = std::is_same_v<Guard, paddock::guard>;
    std::size_t size() const {
        if constexpr (one)
            return 1;
        else
            return held_.size();
    }
    const paddock::guard& at(std::size_t n) const {
        if constexpr (one)
            return held_;
        else
            return held_[n];
    }

    Guard held_;
};

} // namespace cli
