#pragma once

#include "support/function.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <deque>
#include <memory>
#include <mutex>

namespace paddock {

/// Tasks for a strand, a few at a time. A strand by itself runs everything that is ready in one go,
/// and ten thousand callers would keep everybody else on the event loop waiting. Any thread.
class asio_task_queue final : public std::enable_shared_from_this<asio_task_queue> {
public:
    explicit asio_task_queue(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

    void post(unique_function<void()> task);
    /// When a task of the queue posts it, it is run behind those that are being run now, without
    /// another way through the event loop; else as post().
    void post_soon(unique_function<void()> task);

    /// On the strand, or while nothing runs any more: drops what is left, and what comes later.
    void close() noexcept;

private:
    using tasks = std::deque<unique_function<void()>>;

    void schedule();
    void run();
    void run(tasks& all, std::size_t count, std::unique_lock<std::mutex>& lock);
    void go_on(); ///< with the lock held

    std::mutex mutex_;
    boost::asio::any_io_executor strand_;
    tasks tasks_;
    tasks soon_;
    bool running_ = false;
    bool scheduled_ = false;
    bool closed_ = false;
};

} // namespace paddock
