#include "session/stuck_monitor.hpp"

#include "session/core.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace paddock::detail {

void stuck_monitor::start(unique_function<void()> check) {
    schedule(core_.env().now() + threshold(), std::move(check));
}

void stuck_monitor::stop() noexcept {
    if (std::exchange(running_, false)) timer_->cancel();
}

boot_clock::duration stuck_monitor::threshold() const {
    const auto negotiated = core_.session_timeout(); // zero while there is no session
    return negotiated.count() > 0 ? negotiated : core_.options().session_timeout;
}

void stuck_monitor::report(const rules::stuck_waiters& found, std::string_view path,
                           unique_function<void()> check) {
    running_ = false;
    if (found.next) schedule(*found.next, std::move(check));
    if (found.count == 0) return;
    core_.trouble(log_code::self_wait,
                  std::to_string(found.count) +
                      (found.count == 1 ? " caller has" : " callers have") +
                      " waited for the lock " + std::string(path) + " for more than " +
                      in_words(threshold()) +
                      " behind a hold of this same client: if the caller itself has that hold, or "
                      "keeps the guard of a lost one, it waits for ever (only the recursive locks "
                      "are reentrant)",
                  path);
}

void stuck_monitor::report(const rules::leftover_nodes& nodes, std::string_view path,
                           unique_function<void()> check) {
    running_ = false;
    if (nodes.next) schedule(*nodes.next, std::move(check));
    tell(nodes, path);
}

void stuck_monitor::tell(const rules::leftover_nodes& nodes, std::string_view path) {
    for (const auto& [node, ctime] : nodes.found) {
        std::string text = "callers wait for the lock ";
        text.append(path).append(" behind the node ").append(node);
        text.append(", which belongs to no session (it is persistent, created ");
        text.append(date_in_words(ctime)).append("): it stays until it is deleted. ");
        text.append("No lock makes such nodes, but a person or a tool may have. ");
        text.append("If nobody needs it, in zkCli: delete ").append(node);
        core_.trouble(log_code::leftover_node, text, path);
    }
}

void stuck_monitor::schedule(boot_clock::time_point when, unique_function<void()> check) {
    if (!timer_) timer_ = core_.env().make_timer();
    running_ = true;
    timer_->arm(when, std::move(check));
}

} // namespace paddock::detail
