#include "session/watch_table.hpp"

#include "rules/outcome.hpp"
#include "rules/request_bytes.hpp"

#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

std::optional<watch_event> public_event(native::watch_type type) noexcept {
    switch (type) {
    case native::watch_type::created:
        return watch_event::created;
    case native::watch_type::deleted:
        return watch_event::deleted;
    case native::watch_type::changed:
        return watch_event::changed;
    case native::watch_type::child:
        return watch_event::children;
    default:
        return std::nullopt;
    }
}

bool receives(watch_kind kind, watch_event what) noexcept {
    switch (what) {
    case watch_event::deleted:
        return true;
    case watch_event::created:
    case watch_event::changed:
        return kind != watch_kind::children;
    case watch_event::children:
        return kind == watch_kind::children;
    }
    return false;
}

constexpr unsigned every_kind = ~0U;

unsigned bit_of(watch_kind kind) noexcept { return 1U << static_cast<unsigned>(kind); }

/// The path and its length field. The empty path is never watched.
std::size_t bytes_of(std::string_view path) noexcept {
    return path.empty() ? 0 : path.size() + rules::length_field;
}

} // namespace

bool watch_table::room_for(std::string_view path, watch_kind kind) {
    const auto it = paths_.find(std::string(path));
    const bool counted = it != paths_.end() && (it->second.kinds & bit_of(kind)) != 0;
    const bool fits = counted || bytes_ + bytes_of(path) <= limit_;
    if (!fits) ++waits_;
    return fits;
}

watch_table::waiter_id watch_table::add(const std::string& path, watch_kind kind, callback done,
                                        unarmed lasts) {
    auto& at = paths_[path];
    if (at.kinds == 0 && !path.empty()) ++watched_;
    if ((at.kinds & bit_of(kind)) == 0) bytes_ += bytes_of(path);
    at.kinds |= bit_of(kind);
    at.waiters.emplace(++last_id_,
                       waiter{kind, std::move(done), lasts == unarmed::ends_with_session});
    return last_id_;
}

watch_table::paths::iterator watch_table::erase(paths::iterator it) {
    const auto kinds = static_cast<std::size_t>(std::popcount(it->second.kinds));
    bytes_ -= kinds * bytes_of(it->first);
    if (!it->first.empty()) --watched_;
    return paths_.erase(it);
}

void watch_table::armed(const std::string& path, waiter_id id) {
    const auto it = paths_.find(path);
    if (it == paths_.end()) return remove_at_server(path);
    auto& at = it->second;
    if (const auto w = at.waiters.find(id); w != at.waiters.end()) {
        w->second.ends_with_session = true;
        at.set |= bit_of(w->second.kind);
    } else {
        at.set = every_kind;
    }
}

void watch_table::drop(const std::string& path, waiter_id id) {
    const auto it = paths_.find(path);
    if (it == paths_.end()) return;
    auto& at = it->second;
    if (at.waiters.erase(id) == 0 || !at.waiters.empty()) return;
    const bool set = at.set != 0;
    erase(it);
    if (set) remove_at_server(path);
}

/// The C client sets a watch again on every connection, even if no waiter needs it: so if the
/// connection is lost, the next one removes the watch.
void watch_table::remove_at_server(const std::string& path) {
    if (closed_) return;
    // A path that has a waiter again keeps the watch: the end of that waiter requests the next
    // removal.
    const auto needed = std::make_shared<bool>(true);
    dispatcher_.submit(
        lane::user, requests::remove_watches{path},
        [this, path, needed](const native::reply& reply) {
            if (*needed && rules::connection_lost(reply.rc)) remove_at_server(path);
        },
        [this, path, needed] {
            const auto it = paths_.find(path);
            if (it != paths_.end()) it->second.set = every_kind;
            return *needed = it == paths_.end();
        });
}

void watch_table::on_event(native::watch_type type, std::string_view path) {
    const auto what = public_event(type);
    const auto it = paths_.find(std::string(path));
    if (!what || it == paths_.end()) return;
    std::vector<callback> callbacks;
    auto& all = it->second.waiters;
    for (auto w = all.begin(); w != all.end();) {
        if (!receives(w->second.kind, *what)) {
            ++w;
            continue;
        }
        callbacks.push_back(std::move(w->second.done));
        w = all.erase(w);
    }
    for (const auto kind : {watch_kind::data, watch_kind::existence, watch_kind::children})
        if (receives(kind, *what)) it->second.set &= ~bit_of(kind);
    if (all.empty()) {
        const bool other_set = it->second.set != 0;
        erase(it);
        if (other_set) remove_at_server(std::string(path));
    }
    for (auto& done : callbacks)
        done({}, *what);
}

void watch_table::end_session(error_code why) { end_waiters(why, false); }

void watch_table::close(error_code why) {
    closed_ = true;
    end_waiters(why, true);
}

void watch_table::end_waiters(error_code why, bool all) {
    std::vector<callback> callbacks;
    for (auto it = paths_.begin(); it != paths_.end();) {
        auto& waiters = it->second.waiters;
        it->second.set = 0;
        for (auto w = waiters.begin(); w != waiters.end();) {
            if (!all && !w->second.ends_with_session) {
                ++w;
                continue;
            }
            callbacks.push_back(std::move(w->second.done));
            w = waiters.erase(w);
        }
        if (waiters.empty())
            it = erase(it);
        else
            ++it;
    }
    for (auto& done : callbacks)
        done(why, watch_event{});
}

} // namespace paddock::detail
