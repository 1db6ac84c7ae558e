#pragma once

#include "sim/dice.hpp"
#include "support/function.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::sim {

/// Virtual time: coming events in the order of their times, then of their insertion.
class timeline {
public:
    timeline() { latest = this; }
    time_point now() const noexcept { return now_; }
    /// Of the one that was made last: for guards, which read a process-wide clock.
    static time_point latest_now() noexcept { return latest->now_; }

    void at(time_point when, unique_function<void()> what);
    void after(duration delay, unique_function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Runs the next event; false if there is none.
    bool step();
    std::size_t steps() const noexcept { return steps_; }

    /// Listens to events; costs nothing without a listener.
    unique_function<void(const std::string&)> listener;
    /// `describe` returns the text; it is called only if there is a listener.
    template <typename Describe>
    void note(Describe describe) {
        if (listener) listener(describe());
    }

private:
    struct event {
        time_point when;
        std::uint64_t turn;
        unique_function<void()> what;
    };
    struct later {
        bool operator()(const event& a, const event& b) const noexcept {
            return a.when != b.when ? a.when > b.when : a.turn > b.turn;
        }
    };

    static inline const timeline* latest = nullptr;
    time_point now_{std::chrono::hours(1)};
    std::uint64_t turns_ = 0;
    std::size_t steps_ = 0;
    std::vector<event> events_; ///< a heap
};

/// One direction of a connection: messages arrive later, in their order, or never.
class channel {
public:
    explicit channel(timeline& time) : state_(std::make_shared<state>(time)) {}
    ~channel() { lose(); }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    void send(duration delay, unique_function<void()> arrive);
    /// Nothing arrives before then.
    void hold_until(time_point when);
    /// Messages under way never arrive.
    void lose() noexcept;

private:
    struct state : std::enable_shared_from_this<state> {
        explicit state(timeline& t) : time(t) {}
        void wake();
        void arrive();

        timeline& time;
        std::vector<std::pair<time_point, unique_function<void()>>> under_way;
        std::size_t first = 0;
        time_point held{};
        bool awake = false;
    };
    std::shared_ptr<state> state_;
};

} // namespace paddock::test::sim
