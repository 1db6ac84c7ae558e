#include "fake_environment.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace paddock::test {

using time_point = boot_clock::time_point;

/// Shared with the objects that the environment has made, which may outlive it in a test.
struct fake_environment::world {
    time_point now{std::chrono::hours(1)};
    std::uint64_t random = 88172645463325252ULL;
    std::deque<unique_function<void()>> due, held;
    std::set<fake_timer*> timers;
    std::set<fake_readiness*> connections;
    std::map<std::uint64_t, unsigned> ready;
};

class fake_environment::fake_timer final : public timer {
public:
    explicit fake_timer(std::shared_ptr<world> in) : world_(std::move(in)) {
        world_->timers.insert(this);
    }
    ~fake_timer() override { world_->timers.erase(this); }

    void arm(time_point at, unique_function<void()> call) override {
        when = at;
        fired_ = std::move(call);
    }
    void cancel() noexcept override { when.reset(); }

    void fire() {
        when.reset();
        auto call = std::move(fired_); // the call may arm or destroy the timer
        call();
    }

    std::optional<time_point> when;

private:
    std::shared_ptr<world> world_;
    unique_function<void()> fired_;
};

class fake_environment::fake_wakeup final : public wakeup {
public:
    fake_wakeup(std::shared_ptr<world> in, unique_function<void()> woken)
        : world_(std::move(in))
        , woken_(std::make_shared<unique_function<void()>>(std::move(woken))) {}
    void notify() noexcept override {
        world_->due.push_back([weak = std::weak_ptr(woken_)] {
            if (const auto call = weak.lock()) (*call)();
        });
    }
    void stop() noexcept override { woken_.reset(); }

private:
    std::shared_ptr<world> world_;
    std::shared_ptr<unique_function<void()>> woken_;
};

class fake_environment::fake_readiness final : public readiness {
public:
    fake_readiness(std::shared_ptr<world> in, std::uint64_t of)
        : identity(of), world_(std::move(in)) {
        world_->connections.insert(this);
    }
    ~fake_readiness() override { world_->connections.erase(this); }

    void wait_readable(unique_function<void()> ready) override { wait(0, std::move(ready)); }
    void wait_writable(unique_function<void()> ready) override { wait(1, std::move(ready)); }

    /// Posts the waits that are ready now.
    void look() {
        const auto at = world_->ready.find(identity);
        const unsigned events = at == world_->ready.end() ? 0U : at->second;
        for (unsigned kind : {0U, 1U}) {
            if ((events & (1U << kind)) == 0 || !waits_[kind]) continue;
            world_->due.push_back(
                [alive = std::weak_ptr(alive_), call = std::move(waits_[kind])]() mutable {
                    if (!alive.expired()) call();
                });
            waits_[kind] = {};
        }
    }

    const std::uint64_t identity;

private:
    void wait(unsigned kind, unique_function<void()> ready) {
        CHECK_FALSE(waits_[kind]);
        waits_[kind] = std::move(ready);
        look();
    }

    std::shared_ptr<world> world_;
    unique_function<void()> waits_[2];
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

std::shared_ptr<const fake_environment::world> fake_environment::latest_;

fake_environment::fake_environment() : world_(std::make_shared<world>()) { latest_ = world_; }
fake_environment::~fake_environment() {
    world_->due.clear();
    world_->held.clear();
}

time_point fake_environment::now() const { return world_->now; }
time_point fake_environment::latest_now() noexcept { return latest_->now; }

std::chrono::system_clock::time_point fake_environment::wall_clock() const {
    const auto since = std::chrono::duration_cast<std::chrono::system_clock::duration>(
        world_->now.time_since_epoch());
    return std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 50)) + since +
           wall_jump;
}

std::uint64_t fake_environment::random() { // Marsaglia's xorshift
    std::uint64_t& x = world_->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

void fake_environment::post(unique_function<void()>&& task) {
    if (refuses_tasks) return;
    (tasks_held_ ? world_->held : world_->due).push_back(std::move(task));
}

void fake_environment::post_behind(unique_function<void()>&& task) {
    world_->due.push_back(std::move(task));
}

void fake_environment::let_tasks_run() {
    tasks_held_ = false;
    for (auto& task : std::exchange(world_->held, {}))
        world_->due.push_back(std::move(task));
}

std::unique_ptr<timer> fake_environment::make_timer() {
    return std::make_unique<fake_timer>(world_);
}

std::unique_ptr<wakeup> fake_environment::make_wakeup(unique_function<void()> woken) {
    return std::make_unique<fake_wakeup>(world_, std::move(woken));
}

std::unique_ptr<readiness> fake_environment::make_readiness(descriptor connection) {
    if (no_descriptors)
        throw boost::system::system_error(boost::asio::error::no_descriptors, "dup");
    return std::make_unique<fake_readiness>(world_, connection.identity);
}

std::unique_ptr<tcp_stream> fake_environment::make_stream() {
    REQUIRE(streams);
    return streams();
}

void fake_environment::resolve(const std::string& host, resolved done) {
    asked.push_back(host);
    lookups_.push_back(make_timer());
    lookups_.back()->arm(now() + resolve_time, [this, host, done = std::move(done)]() mutable {
        const auto found = names.find(host);
        if (found == names.end())
            done(boost::asio::error::host_not_found, {});
        else
            done({}, found->second);
    });
}

bool fake_environment::step() {
    if (world_->due.empty()) {
        for (fake_timer* each : world_->timers) {
            if (!each->when || *each->when > world_->now) continue;
            each->fire();
            return true;
        }
        return false;
    }
    auto task = std::move(world_->due.front());
    world_->due.pop_front();
    task();
    return true;
}

std::size_t fake_environment::run() {
    for (std::size_t steps = 0; steps < 100'000; ++steps)
        if (!step()) return steps;
    FAIL("there is no end to it");
    return 0;
}

void fake_environment::advance(boot_clock::duration time) {
    const auto end = world_->now + time;
    for (run(); world_->now < end; run()) {
        auto next = end;
        for (const fake_timer* each : world_->timers)
            if (each->when) next = std::min(next, *each->when);
        world_->now = std::max(world_->now, next);
    }
}

void fake_environment::stall(boot_clock::duration time) { world_->now += time; }

void fake_environment::set_ready(std::uint64_t identity, unsigned events) {
    world_->ready[identity] = events;
    for (fake_readiness* each : std::set<fake_readiness*>(world_->connections))
        if (each->identity == identity) each->look();
}

std::size_t fake_environment::waited_for() const { return world_->connections.size(); }

std::size_t fake_environment::armed() const {
    return static_cast<std::size_t>(
        std::count_if(world_->timers.begin(), world_->timers.end(),
                      [](const auto* each) { return each->when.has_value(); }));
}

} // namespace paddock::test
