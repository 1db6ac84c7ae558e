#pragma once

#include "support/asio_environment.hpp"
#include "support/function.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace paddock {

/// Tasks for a strand, a few at a time. A strand by itself runs everything that is ready in one go,
/// and ten thousand callers would keep everybody else on the event loop waiting. Any thread.
class asio_task_queue final : public std::enable_shared_from_this<asio_task_queue> {
public:
    explicit asio_task_queue(io_strand strand) : strand_(std::move(strand)) {}

    void post(unique_function<void()> task);
    /// Runs behind the tasks of the first round that it finds, or of the present one.
    void post_behind(unique_function<void()> task);

    /// On the strand, or while nothing runs any more: drops what is left, and what comes later.
    void close() noexcept;

private:
    using tasks = std::deque<unique_function<void()>>;

    void add(tasks& to, unique_function<void()> task);
    void schedule();
    void run();
    void run(tasks& all, std::size_t count, std::unique_lock<std::mutex>& lock);
    void go_on(); ///< with the lock held

    std::mutex mutex_;
    std::optional<io_strand> strand_; ///< until close()
    tasks tasks_;
    tasks behind_; ///< every round ends with those that are here by then
    bool scheduled_ = false;
};

} // namespace paddock
