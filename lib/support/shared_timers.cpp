#include "support/shared_timers.hpp"

#include <map>
#include <utility>
#include <vector>

namespace paddock {

struct shared_timers::schedule : std::enable_shared_from_this<schedule> {
    using key = std::pair<boot_clock::time_point, std::uint64_t>;

    static constexpr auto never = boot_clock::time_point::max();

    explicit schedule(environment& of) : env(&of) {}

    key add(boot_clock::time_point when, unique_function<void()> fired) {
        const key at{when, ++last};
        if (!env) return at;
        waiting.emplace(at, std::move(fired));
        if (when < wakes_at) arm(when);
        return at;
    }

    void arm(boot_clock::time_point when) {
        if (!alarm) alarm = env->make_timer();
        wakes_at = when;
        alarm->arm(when, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->fire();
        });
    }

    /// Each callback may change everything. A timer that it arms waits for the next alarm.
    void fire() {
        wakes_at = never;
        std::vector<key> due;
        const auto now = env->now();
        for (auto next = waiting.begin(); next != waiting.end() && next->first.first <= now; ++next)
            due.push_back(next->first);
        for (const auto& at : due)
            if (auto one = waiting.extract(at)) one.mapped()();
        if (!waiting.empty() && waiting.begin()->first.first < wakes_at)
            arm(waiting.begin()->first.first);
    }

    environment* env; ///< until clear()
    std::map<key, unique_function<void()>> waiting;
    std::uint64_t last = 0;
    std::unique_ptr<timer> alarm;
    boot_clock::time_point wakes_at = never; ///< the alarm is set to it
};

class shared_timers::part final : public timer {
public:
    explicit part(std::shared_ptr<schedule> of) : schedule_(std::move(of)) {}
    ~part() override { part::cancel(); }

    void arm(boot_clock::time_point when, unique_function<void()> fired) override {
        cancel();
        at_ = schedule_->add(when, std::move(fired));
    }
    void cancel() noexcept override { schedule_->waiting.erase(at_); }

private:
    std::shared_ptr<schedule> schedule_;
    schedule::key at_{};
};

shared_timers::shared_timers(environment& env) : schedule_(std::make_shared<schedule>(env)) {}

std::unique_ptr<timer> shared_timers::make() { return std::make_unique<part>(schedule_); }

void shared_timers::clear() noexcept {
    schedule_->env = nullptr;
    schedule_->alarm.reset();
    schedule_->waiting.clear();
}

} // namespace paddock
