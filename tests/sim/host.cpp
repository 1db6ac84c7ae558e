#include "sim/host.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

host::host(ensemble& all, std::string called)
    : name(std::move(called)), all_(all), busy_(io_->get_executor()) {}

host::~host() = default;

void host::post(unique_function<void()> task) {
    if (dead_) return;
    tasks_.push_back(std::move(task));
    wake();
}

void host::wake() {
    if (dead_ || std::exchange(awake_, true)) return;
    time().at(paused_until_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->awake_ = false;
        self->turn();
    });
}

/// The strand's tasks and the application's handlers share the loop.
void host::turn() {
    if (dead_) return;
    if (paused()) return wake();
    while (ran_ < stop_at_) {
        if (!hasty) io_->poll();
        const bool strand_first = !hasty || chance().one_in(2);
        if (!strand_first && io_->poll_one() > 0) {
        } else if (!tasks_.empty()) {
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            task();
        } else if (io_->poll_one() == 0) {
            break;
        }
        ++ran_;
        if (dead_ || paused()) return wake();
    }
}

void host::pause(duration how_long) {
    paused_until_ = std::max(paused_until_, time().now() + how_long);
    wake();
}

std::shared_ptr<socket> host::dial(int server) {
    auto made = all_.connect(server);
    std::erase_if(sockets_, [](const auto& one) { return one.second.expired(); });
    sockets_[made->identity] = made;
    if (!dead_) made->dial();
    return made;
}

socket* host::find(std::uint64_t identity) {
    const auto it = sockets_.find(identity);
    return it == sockets_.end() ? nullptr : it->second.lock().get();
}

void host::lose_connection() {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->lose();
}

void host::hold_connection(duration how_long) {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->hold_until(time().now() + how_long);
}

void host::recover() {
    names_fail = false;
    paused_until_ = time().now();
    if (std::exchange(awake_, false)) wake();
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->hold_until(time().now());
}

void host::die() {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->close();
    dead_ = true;
    tasks_.clear();
}

void host::end() {
    die();
    busy_.reset();
    io_.reset();
}

} // namespace paddock::test::sim
