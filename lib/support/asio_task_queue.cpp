#include "support/asio_task_queue.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace paddock {

namespace {
/// Others share the event loop: more hold it for longer, fewer cost a post more often.
constexpr std::size_t tasks_per_turn = 64;
} // namespace

void asio_task_queue::post(unique_function<void()>&& task) { add(tasks_, std::move(task)); }

void asio_task_queue::post_behind(unique_function<void()>&& task) { add(behind_, std::move(task)); }

void asio_task_queue::add(tasks& to, unique_function<void()>&& task) {
    const std::lock_guard lock(mutex_);
    if (!strand_) return;
    to.push_back(std::move(task));
    if (!std::exchange(scheduled_, true)) schedule();
}

void asio_task_queue::schedule() {
    boost::asio::post(*strand_, [self = shared_from_this()] { self->run(); });
}

/// Tasks that these tasks post wait for the next round, so that a task that posts itself repeatedly
/// does not block the event loop.
void asio_task_queue::run() {
    std::unique_lock lock(mutex_);
    try {
        run(tasks_, std::min(tasks_.size(), tasks_per_turn), lock);
        run(behind_, behind_.size(), lock);
    } catch (...) { // the exception goes to the caller of io_context::run()
        reschedule();
        throw;
    }
    reschedule();
}

/// Runs the first `count` tasks, each without the lock.
void asio_task_queue::run(tasks& all, std::size_t count, std::unique_lock<std::mutex>& lock) {
    for (; count > 0 && !all.empty() && strand_; --count) {
        auto task = std::move(all.front());
        all.pop_front();
        lock.unlock();
        try {
            task();
        } catch (...) {
            lock.lock();
            throw;
        }
        task = {}; // its destructor must not run under the lock
        lock.lock();
    }
}

void asio_task_queue::reschedule() {
    scheduled_ = !tasks_.empty() || !behind_.empty();
    if (scheduled_) schedule();
}

void asio_task_queue::close() noexcept {
    tasks dropped, behind;
    const std::lock_guard lock(mutex_);
    dropped.swap(tasks_);
    behind.swap(behind_);
    strand_.reset();
}

} // namespace paddock
