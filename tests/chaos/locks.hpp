#pragma once

#include "hold_journal.hpp"
#include "support/program.hpp"

#include <paddock/guard.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace paddock::test {

/// A lock, as one contender takes it.
struct way {
    hold_record form{};
    std::function<asio::awaitable<guard>()> wait{};
    std::function<asio::awaitable<guard>(std::chrono::milliseconds)> wait_for{};
    /// Some locks change hands often; others are held so long that something happens meanwhile.
    std::chrono::milliseconds longest_stay{20};
    /// Between two holds. A lock that is mostly free has the more beginnings.
    std::chrono::milliseconds longest_rest{10};
};

/// With a lock that has lock() and try_lock_for().
template <class Lock>
way exclusive_way(const Lock& lock, const char* name) {
    return {{.lock = name},
            [&] { return lock.lock(asio::use_awaitable); },
            [&](auto limit) { return lock.try_lock_for(limit, asio::use_awaitable); }};
}

/// A client of one system, and its locks.
class locks {
public:
    virtual ~locks() = default;
    /// One for each contender. They use this object.
    virtual std::vector<way> ways() = 0;
    virtual asio::awaitable<void> close() = 0;
};

/// Every system's worker has one of these functions.
std::unique_ptr<locks> open_locks(asio::any_io_executor executor, const arguments& given);

} // namespace paddock::test
