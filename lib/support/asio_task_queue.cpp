#include "support/asio_task_queue.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace paddock {

namespace {
constexpr std::size_t tasks_per_turn = 64;
}

void asio_task_queue::post(unique_function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
    if (!std::exchange(scheduled_, true)) schedule();
}

void asio_task_queue::schedule() {
    boost::asio::post(strand_, [self = shared_from_this()] { self->run(); });
}

/// What the tasks post is run at once, too: it saves a way through the event loop. But not for
/// ever: whoever posts himself again and again does not have the event loop for himself.
void asio_task_queue::run() {
    std::unique_lock lock(mutex_);
    for (auto left = tasks_per_turn; left > 0 && !tasks_.empty(); --left) {
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        try {
            task();
        } catch (...) { // it is the caller of io_context::run() who hears of it
            lock.lock();
            go_on();
            throw;
        }
        task = {}; // not under the lock
        lock.lock();
    }
    go_on();
}

void asio_task_queue::go_on() {
    scheduled_ = !tasks_.empty();
    if (scheduled_) schedule();
}

void asio_task_queue::close() noexcept {
    std::deque<unique_function<void()>> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(tasks_);
    strand_ = {};
}

} // namespace paddock
