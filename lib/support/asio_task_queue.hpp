#pragma once

#include "support/asio_environment.hpp"
#include "support/function.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace paddock {

/// Runs tasks on a strand, a few at a time. A plain strand runs all ready tasks in one go, and ten
/// thousand callers would block all other users of the event loop. Any thread.
class asio_task_queue final : public std::enable_shared_from_this<asio_task_queue> {
public:
    explicit asio_task_queue(io_strand strand) : strand_(std::move(strand)) {}

    void post(unique_function<void()>&& task);
    /// Runs the task at the end of the next round, or of the present one.
    void post_behind(unique_function<void()>&& task);

    /// On the strand, or when no handler runs any more: drops all tasks, also later ones.
    void close() noexcept;

private:
    using tasks = std::deque<unique_function<void()>>;

    void add(tasks& to, unique_function<void()>&& task);
    void schedule();
    void run();
    void run(tasks& all, std::size_t count, std::unique_lock<std::mutex>& lock);
    void reschedule(); ///< with the lock held

    std::mutex mutex_;
    std::optional<io_strand> strand_; ///< until close()
    tasks tasks_;
    tasks behind_; ///< every round ends with all of these
    bool scheduled_ = false;
};

} // namespace paddock
