#include "observation/observers.hpp"

#include "support/log.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace paddock {

observer::~observer() = default;
void observer::on_waiting(const observed_lock&, std::size_t) {}
void observer::on_granted(const observed_lock&, boot_clock::duration, const fencing_token&) {}
void observer::on_not_granted(const observed_lock&, boot_clock::duration, wait_outcome,
                              error_code) {}
void observer::on_ended(const observed_lock&, boot_clock::duration, error_code) {}
void observer::on_lease_renewed(const observed_lock&, boot_clock::duration) {}
void observer::on_lease_late(const observed_lock&, boot_clock::duration) {}
void observer::on_session(client_state, std::uint64_t, std::string_view) {}
void observer::on_server(std::string_view, bool) {}
bool observer::wants_requests() const { return false; }
void observer::on_request(std::string_view, boot_clock::duration, error_code) {}
void observer::on_loop_delay(boot_clock::duration) {}
void observer::on_trouble(const log_record&) {}

std::string_view name_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::mutex:
        return "mutex";
    case lock_kind::shared_mutex:
        return "shared_mutex";
    case lock_kind::recursive_mutex:
        return "recursive_mutex";
    case lock_kind::recursive_shared_mutex:
        return "recursive_shared_mutex";
    case lock_kind::election:
        return "election";
    case lock_kind::semaphore:
        return "semaphore";
    case lock_kind::simple_mutex:
        return "simple_mutex";
    }
    return "unknown";
}

std::string_view name_of(client_state state) noexcept {
    switch (state) {
    case client_state::connecting:
        return "connecting";
    case client_state::connected:
        return "connected";
    case client_state::suspended:
        return "suspended";
    case client_state::expired:
        return "expired";
    case client_state::closed:
        return "closed";
    }
    return "unknown";
}

std::string_view name_of(wait_outcome how) noexcept {
    switch (how) {
    case wait_outcome::granted:
        return "granted";
    case wait_outcome::busy:
        return "busy";
    case wait_outcome::timeout:
        return "timeout";
    case wait_outcome::cancelled:
        return "cancelled";
    case wait_outcome::error:
        return "error";
    }
    return "unknown";
}

namespace detail {

namespace {

/// observer::on_loop_delay() promises it. A busy loop is late by a few milliseconds all the time.
constexpr std::chrono::milliseconds least_delay{10};

observed_lock seen(const counted_lock& lock, std::string_view path) noexcept {
    return {path, lock.series.group(), lock.label, lock.series.kind()};
}

observed_lock seen(const counted_lock* lock, std::string_view path) noexcept {
    return lock ? seen(*lock, path) : observed_lock{};
}

} // namespace

observers::observers(std::shared_ptr<observer> user, log_function log)
    : log_(std::move(log))
    , user_(std::move(user))
    , told_(user_.get())
    , wants_requests_(user_ && user_->wants_requests()) {}

void observers::wait_begins(const counted_lock& lock, std::string_view path) noexcept {
    lock.series.wait_begins();
    tell([&](observer& by) { by.on_waiting(seen(lock, path), lock.series.waiting()); });
}

void observers::granted(const counted_lock& lock, std::string_view path,
                        boot_clock::duration waited, const fencing_token& token) noexcept {
    lock.series.wait_ends(waited, wait_outcome::granted);
    tell([&](observer& by) { by.on_granted(seen(lock, path), waited, token); });
}

void observers::not_granted(const counted_lock& lock, std::string_view path,
                            boot_clock::duration waited, wait_outcome how,
                            error_code why) noexcept {
    lock.series.wait_ends(waited, how);
    tell([&](observer& by) { by.on_not_granted(seen(lock, path), waited, how, why); });
}

void observers::hold_ends(const counted_lock& lock, std::string_view path,
                          boot_clock::duration held, error_code why) noexcept {
    lock.series.hold_ends(held, why);
    tell([&](observer& by) { by.on_ended(seen(lock, path), held, why); });
}

void observers::lease_renewed(const counted_lock* lock, std::string_view path,
                              boot_clock::duration time) noexcept {
    {
        numbers::change now(all_);
        add_time(now, left, time);
    }
    tell([&](observer& by) { by.on_lease_renewed(seen(lock, path), time); });
}

void observers::lease_late(const counted_lock* lock, std::string_view path,
                           boot_clock::duration time) noexcept {
    numbers::change(all_).add(late);
    tell([&](observer& by) { by.on_lease_late(seen(lock, path), time); });
}

void observers::loop_delay(boot_clock::duration time) noexcept {
    {
        numbers::change now(all_);
        add_time(now, delay, time);
    }
    if (time >= least_delay) tell([&](observer& by) { by.on_loop_delay(time); });
}

void observers::trouble(const log_record& line) noexcept {
    log_.on_trouble(line);
    tell([&](observer& by) { by.on_trouble(line); });
}

void observers::report_failure() noexcept {
    if (std::exchange(failure_reported_, true)) return;
    log_record line;
    line.code = log_code::observer_failed;
    line.level = level_of(line.code);
    line.text = "client_options::observer has thrown an exception, which is ignored, as all later "
                "ones are";
    log_.on_trouble(line);
}

void observers::copy_to(client_statistics& out) const {
    const auto now = all_.copy();
    out.lease_left = histogram_at(now, left);
    out.loop_delay = histogram_at(now, delay);
    out.late_leases = now[late];
}

} // namespace detail

} // namespace paddock
