#include "sim/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

namespace {

/// At most one event of the timeline at a time: a timer that was armed again for later fires too
/// early, and waits again.
class virtual_timer final : public timer {
public:
    explicit virtual_timer(std::shared_ptr<event_loop> in)
        : inside_(std::make_shared<inside>(std::move(in))) {}
    ~virtual_timer() override { cancel(); }

    void arm(time_point when, unique_function<void()> fired) override {
        inside_->when = when;
        inside_->fired = std::move(fired);
        ++inside_->armed;
        inside_->wait();
    }
    void cancel() noexcept override {
        inside_->when.reset();
        inside_->fired = {};
        ++inside_->armed;
    }

private:
    struct inside : std::enable_shared_from_this<inside> {
        explicit inside(std::shared_ptr<event_loop> in) : here(std::move(in)) {}

        void wait() {
            if (waits_until && *waits_until <= *when) return;
            waits_until = when;
            here->time().at(*when, [self = this->shared_from_this(), until = *when] {
                if (self->waits_until != until) return; // it was armed for an earlier time
                self->waits_until.reset();
                self->look();
            });
        }
        void look() {
            if (!when) return;
            if (*when > here->time().now()) return wait();
            here->happen([self = this->shared_from_this(), number = armed] {
                if (self->armed != number) return;
                self->when.reset();
                auto call = std::move(self->fired); // it may arm or destroy the timer
                call();
            });
        }

        std::shared_ptr<event_loop> here;
        std::optional<time_point> when, waits_until;
        unique_function<void()> fired;
        std::uint64_t armed = 0;
    };
    std::shared_ptr<inside> inside_;
};

class virtual_wakeup final : public wakeup {
public:
    virtual_wakeup(std::shared_ptr<event_loop> in, unique_function<void()> woken)
        : here_(std::move(in))
        , woken_(std::make_shared<unique_function<void()>>(std::move(woken))) {}
    void notify() noexcept override {
        here_->happen([weak = std::weak_ptr(woken_)] {
            if (const auto call = weak.lock()) (*call)();
        });
    }
    void stop() noexcept override { woken_.reset(); }

private:
    std::shared_ptr<event_loop> here_;
    std::shared_ptr<unique_function<void()>> woken_;
};

} // namespace

event_loop::event_loop(timeline& time, dice& chance, std::string called)
    : name(std::move(called)), time_(time), chance_(chance), busy_(io_->get_executor()) {}

event_loop::~event_loop() = default;

void event_loop::post(unique_function<void()> task) {
    if (!dead_ && tasks_.empty() && crowd > duration(0) && chance().one_in(4)) {
        crowded_until_ = time().now() + chance().between(duration(0), crowd);
        time().at(crowded_until_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->wake();
        });
    }
    add(tasks_, std::move(task));
}

void event_loop::post_behind(unique_function<void()> task) { add(behind_, std::move(task)); }

void event_loop::happen(unique_function<void()> what) { add(events_, std::move(what)); }

void event_loop::add(tasks& to, unique_function<void()> task) {
    if (dead_) return;
    to.push_back(std::move(task));
    wake();
}

void event_loop::wake() {
    if (dead_ || std::exchange(awake_, true)) return;
    time().at(paused_until_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->awake_ = false;
        self->turn();
    });
}

/// The strand's tasks and the application's handlers share the loop.
void event_loop::turn() {
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
        ran();
        if (dead_ || paused()) return wake();
    }
}

/// The strand's next task; none if it has to wait. A round is not interrupted.
unique_function<void()> event_loop::next() {
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

void event_loop::begin_round() {
    constexpr std::size_t tasks_per_round = 64;
    for (auto n = crowded() ? 0 : std::min(tasks_.size(), tasks_per_round); n > 0; --n) {
        round_.push_back(std::move(tasks_.front()));
        tasks_.pop_front();
    }
    ends_round_ = !round_.empty();
    if (round_.empty()) round_.swap(behind_);
}

void event_loop::pause(duration how_long) {
    paused_until_ = std::max(paused_until_, time().now() + how_long);
    wake();
}

void event_loop::die() {
    dead_ = true;
    for (auto* const all : {&tasks_, &behind_, &events_, &round_})
        all->clear();
}

void event_loop::recover() {
    crowd = duration(0);
    paused_until_ = crowded_until_ = time_.now();
    awake_ = false;
    wake();
}

void event_loop::end() {
    die();
    busy_.reset();
    io_.reset();
}

void loop_environment::post(unique_function<void()>&& task) {
    if (!loop_->dead()) loop_->post(guarded(std::move(task)));
}

void loop_environment::post_behind(unique_function<void()>&& task) {
    if (!loop_->dead()) loop_->post_behind(guarded(std::move(task)));
}

std::unique_ptr<timer> loop_environment::make_timer() {
    return std::make_unique<virtual_timer>(loop_);
}

std::unique_ptr<wakeup> loop_environment::make_wakeup(unique_function<void()> woken) {
    return std::make_unique<virtual_wakeup>(loop_, std::move(woken));
}

unique_function<void()> loop_environment::guarded(unique_function<void()>&& task) const {
    return [alive = std::weak_ptr(alive_), task = std::move(task)]() mutable {
        if (!alive.expired()) task();
    };
}

} // namespace paddock::test::sim
