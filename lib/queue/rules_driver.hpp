#pragma once

#include "rules/actions.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/core.hpp"
#include "session/parents.hpp"
#include "session/stuck_monitor.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::detail {

/// The error of a call that the rules let fail.
inline error_code failure_of(rules::common_act::why reason, int code) {
    using rules::common_act::why;
    switch (reason) {
    case why::refused:
        return zookeeper_error(code);
    case why::sequence_exhausted:
        return errc::sequence_exhausted;
    case why::session_expired:
        return errc::session_expired;
    case why::not_connected:
        return errc::not_connected;
    case why::over_budget:
        return errc::over_budget;
    }
    return {};
}

/// Connects one set of rules with the client: reports every event to the rules, and carries out the
/// actions that they decide, in their order. A driver derives from it, makes it a friend, calls
/// end_rules() when the client closes, and has
///   - a carry_out() for each action that is not here, and `using rules_driver::carry_out`,
///   - self(), a shared pointer to itself,
///   - directory() and persistent_parents(), for make_parents,
///   - directory_made(), if it wants to know that the directory is new,
///   - lock_path(), for the log, if its rules find contenders that perhaps wait for ever,
///   - path_of(), the path of a node with this name, if they find nodes without a session,
///   - explain(), if it knows better what some of these nodes are,
///   - update_rules(), if its rules need more before each event than lease and time,
///   - after_actions(), if it has more to do after all actions.
/// All rules have take(), lease(), now(), connected() and disconnected(); expired() if the driver
/// reports it; parents_made(), resume() and lease_renewed() if they ask for the shared action
/// before it; perhaps_stuck() and stuck(), perhaps_leftover() and leftover() if they know of such
/// callers. Strand only.
template <typename Driver, typename Rules>
class rules_driver {
public:
    /// Reports one event, then carries out what the rules decide. Events have no effect before
    /// make_rules(), and once the client has closed.
    template <typename Event, typename... Args>
    void report(Event event, Args&&... args) {
        if (!rules_) return;
        (updated_rules().*event)(std::forward<Args>(args)...);
        carry_out();
    }

    void on_connected() { report(&Rules::connected); }
    void on_suspended() { report(&Rules::disconnected); }
    void on_expired() { report(&Rules::expired); }

protected:
    explicit rules_driver(core& client) : core_(client) {}
    ~rules_driver() = default;

    void directory_made() noexcept {}
    void update_rules() noexcept {}

    /// Makes the rules, and reports the connection if there is one. Not in a constructor, where
    /// self() does not work yet.
    template <typename... Args>
    void make_rules(Args&&... args) {
        rules_.emplace(std::forward<Args>(args)...);
        if (core_.state() == client_state::connected) on_connected();
    }

    void carry_out() {
        if (std::exchange(carrying_out_, true)) return; // the outer call's loop takes new actions
        const auto alive = driver().self();             // an action may drop the last reference
        while (rules_) {
            rules_->take(actions_);
            if (actions_.empty()) break;
            for (const auto& action : actions_)
                if (rules_) std::visit([this](const auto& a) { driver().carry_out(a); }, action);
        }
        carrying_out_ = false;
        if constexpr (requires(Rules & r) { r.perhaps_stuck(); }) update_stuck_timer();
        if constexpr (requires(Rules & r) { r.perhaps_leftover(); }) update_leftover_timer();
        if constexpr (requires(Driver & d) { d.after_actions(); }) driver().after_actions();
    }

    void carry_out(const rules::common_act::make_parents& a) {
        const std::string& directory = driver().directory();
        make_directory(core_, a.directory ? directory : std::string(rules::parent(directory)),
                       driver().persistent_parents(),
                       [self = driver().self(), a](int code, bool made) {
                           if (made && a.directory) self->directory_made();
                           const auto result = rules::judge(rules::request_kind::create, code);
                           self->report(&Rules::parents_made, result, code);
                       });
    }

    void carry_out(const rules::common_act::pause&) {
        if (!pause_) pause_ = core_.env().make_timer();
        pausing_.emplace(core_.retry_pauses());
        pause_->arm(core_.retry_pauses().end(core_.env().now()),
                    [weak = std::weak_ptr(driver().self())] {
                        const auto self = weak.lock();
                        if (!self) return;
                        self->pausing_.reset();
                        self->report(&Rules::resume);
                    });
    }

    void carry_out(const rules::common_act::await_lease&) {
        core_.lease().when_fit([weak = std::weak_ptr(driver().self())] {
            if (const auto self = weak.lock()) self->report(&Rules::lease_renewed);
        });
    }

    /// The client has closed.
    void end_rules() {
        rules_.reset();
        pause_.reset(); // with its timers, which must not outlive the execution context
        pausing_.reset();
        stuck_.reset();
        leftover_.reset();
    }

    /// Logs the nodes without a session that have blocked for long.
    void look_for_leftovers() {
        if (!rules_ || !leftover_) return;
        leftover_->report(found_leftovers(leftover_->threshold()), driver().lock_path(),
                          leftover_report());
        carry_out();
    }

    /// Logs them, however long they have blocked: a caller that waited behind them gives up.
    void tell_leftovers() {
        if (rules_ && leftover_ && leftover_->running())
            leftover_->tell(found_leftovers({}), driver().lock_path());
    }

    core& core_;
    std::optional<Rules> rules_;
    std::unique_ptr<timer> pause_;
    std::optional<retry_pauses::one> pausing_;
    std::unique_ptr<stuck_monitor> stuck_, leftover_;

private:
    Driver& driver() noexcept { return static_cast<Driver&>(*this); }

    /// The rules with what they need before every event.
    Rules& updated_rules() {
        const auto now = core_.env().now();
        rules_->lease(core_.lease().fit(now));
        rules_->now(now);
        driver().update_rules();
        return *rules_;
    }

    void update_stuck_timer() {
        if (!rules_ || !rules_->perhaps_stuck()) {
            if (stuck_) stuck_->stop();
            return;
        }
        if (!stuck_) stuck_ = std::make_unique<stuck_monitor>(core_);
        if (!stuck_->running()) stuck_->start(stuck_report());
    }

    unique_function<void()> stuck_report() {
        return [weak = std::weak_ptr(driver().self())] {
            const auto self = weak.lock();
            if (!self || !self->rules_) return;
            auto& stuck = *self->stuck_;
            const auto found = self->updated_rules().stuck(stuck.threshold());
            stuck.report(found, self->lock_path(), self->stuck_report());
        };
    }

    /// With their paths.
    rules::leftover_nodes found_leftovers(boot_clock::duration patience) {
        auto nodes = updated_rules().leftover(patience);
        if constexpr (requires(Driver & d) { d.explain(nodes); }) driver().explain(nodes);
        for (auto& one : nodes.found)
            one.name = driver().path_of(one.name);
        return nodes;
    }

    void update_leftover_timer() {
        if (!rules_ || !rules_->perhaps_leftover()) {
            if (leftover_) leftover_->stop();
            return;
        }
        if (!leftover_) leftover_ = std::make_unique<stuck_monitor>(core_);
        if (!leftover_->running()) leftover_->start(leftover_report());
    }

    unique_function<void()> leftover_report() {
        return [weak = std::weak_ptr(driver().self())] {
            if (const auto self = weak.lock()) self->look_for_leftovers();
        };
    }

    bool carrying_out_ = false;
    std::vector<typename Rules::action> actions_; ///< that it carries out
};

} // namespace paddock::detail
