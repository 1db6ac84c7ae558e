#pragma once

#include <paddock/observer.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace paddock::test {

/// Writes down what a client's observer hears: the event, the kind of lock, and what matters most.
class recording_observer final : public observer {
public:
    /// Called after each event; the library survives what it throws.
    std::function<void(const std::string& event)> then;
    bool requests = false; ///< whether they are wanted

    std::vector<std::string> events() const {
        const std::lock_guard lock(mutex_);
        return events_;
    }
    /// Those that begin so.
    std::vector<std::string> events(std::string_view begin) const {
        std::vector<std::string> out;
        for (const auto& one : events())
            if (one.starts_with(begin)) out.push_back(one);
        return out;
    }
    std::string last_label() const {
        const std::lock_guard lock(mutex_);
        return label_;
    }

    void on_waiting(const observed_lock& lock, std::size_t waiters) override {
        add("waiting " + text(lock) + ' ' + std::to_string(waiters));
    }
    void on_granted(const observed_lock& lock, boot_clock::duration,
                    const fencing_token&) override {
        add("granted " + text(lock));
    }
    void on_not_granted(const observed_lock& lock, boot_clock::duration, wait_outcome how,
                        error_code why) override {
        add("not granted " + text(lock) + ' ' + std::string(name_of(how)) +
            (why ? ": " + why.message() : std::string()));
    }
    void on_ended(const observed_lock& lock, boot_clock::duration, error_code why) override {
        add("ended " + text(lock) + ": " + why.message());
    }
    void on_lease_renewed(const observed_lock& lock, boot_clock::duration) override {
        add("renewed " + std::string(lock.path));
    }
    void on_lease_late(const observed_lock& lock, boot_clock::duration) override {
        add("late " + std::string(lock.path));
    }
    void on_session(client_state state, std::uint64_t epoch, std::string_view) override {
        add("session " + std::to_string(static_cast<int>(state)) + " epoch " +
            std::to_string(epoch));
    }
    void on_server(std::string_view, bool usable) override {
        add(usable ? "server usable" : "server not usable");
    }
    bool wants_requests() const override { return requests; }
    void on_request(std::string_view operation, boot_clock::duration, error_code why) override {
        add("request " + std::string(operation) + (why ? ": " + why.message() : std::string()));
    }
    void on_loop_delay(boot_clock::duration) override { add("delay"); }
    void on_trouble(const log_record& line) override {
        add("trouble " + std::string(name_of(line.code)));
    }

private:
    std::string text(const observed_lock& lock) {
        label_ = lock.label;
        return std::string(name_of(lock.kind)) + ' ' + std::string(lock.path) +
               (lock.group == lock.path ? "" : " in " + std::string(lock.group));
    }
    void add(std::string event) {
        {
            const std::lock_guard lock(mutex_);
            events_.push_back(event);
        }
        if (then) then(event);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> events_;
    std::string label_;
};

} // namespace paddock::test
