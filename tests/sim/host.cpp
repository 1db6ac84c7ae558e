#include "sim/host.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

host::host(ensemble& all, std::string called)
    : name(std::move(called)), all_(all), busy_(io_->get_executor()) {}

host::~host() = default;

void host::post(unique_function<void()> task) {
    if (!dead_ && tasks_.empty() && crowd > duration(0) && chance().one_in(4)) {
        crowded_until_ = time().now() + chance().between(duration(0), crowd);
        time().at(crowded_until_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->wake();
        });
    }
    add(tasks_, std::move(task));
}

void host::post_behind(unique_function<void()> task) { add(behind_, std::move(task)); }

void host::happen(unique_function<void()> what) { add(events_, std::move(what)); }

void host::add(tasks& to, unique_function<void()> task) {
    if (dead_) return;
    to.push_back(std::move(task));
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
        } else if (auto task = next()) {
            task();
        } else if (io_->poll_one() == 0) {
            break;
        }
        ++ran_;
        if (dead_ || paused()) return wake();
    }
}

/// The strand's next task; none if it has to wait. A round is not interrupted.
unique_function<void()> host::next() {
    if (round_.empty() && std::exchange(ends_round_, false)) round_.swap(behind_);
    const bool free = (!tasks_.empty() && !crowded()) || !behind_.empty();
    const bool event = !events_.empty() && (!free || chance().one_in(2));
    auto& from = round_.empty() && event ? events_ : round_;
    if (round_.empty() && !event && free) begin_round();
    if (from.empty()) return {};
    const auto which = &from == &events_ ? chance().below(static_cast<int>(from.size())) : 0;
    auto task = std::move(from[static_cast<std::size_t>(which)]);
    from.erase(from.begin() + which);
    return task;
}

void host::begin_round() {
    constexpr std::size_t tasks_per_round = 64;
    for (auto n = crowded() ? 0 : std::min(tasks_.size(), tasks_per_round); n > 0; --n) {
        round_.push_back(std::move(tasks_.front()));
        tasks_.pop_front();
    }
    ends_round_ = !round_.empty();
    if (round_.empty()) round_.swap(behind_);
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
    crowd = duration(0);
    paused_until_ = crowded_until_ = time().now();
    awake_ = false;
    wake();
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->hold_until(time().now());
}

void host::die() {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->close();
    dead_ = true;
    for (auto* const all : {&tasks_, &behind_, &events_, &round_})
        all->clear();
}

void host::end() {
    die();
    busy_.reset();
    io_.reset();
}

} // namespace paddock::test::sim
