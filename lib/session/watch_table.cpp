#include "session/watch_table.hpp"

#include "rules/outcome.hpp"

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

bool hears(watch_kind kind, watch_event what) noexcept {
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

} // namespace

bool watch_table::room_for(std::string_view path) const {
    return paths_.contains(std::string(path)) || bytes_ + path.size() <= limit_;
}

watch_table::waiter watch_table::add(const std::string& path, watch_kind kind, told tell,
                                     bool armed) {
    auto [it, added] = paths_.try_emplace(path);
    if (added) bytes_ += path.size();
    it->second.emplace(++last_, entry{kind, std::move(tell), armed});
    return last_;
}

void watch_table::armed(const std::string& path, waiter who) {
    const auto it = paths_.find(path);
    if (it == paths_.end()) return remove_at_server(path);
    if (const auto w = it->second.find(who); w != it->second.end()) w->second.armed = true;
}

bool watch_table::forget(const std::string& path, waiter who) {
    const auto it = paths_.find(path);
    if (it == paths_.end() || it->second.erase(who) == 0 || !it->second.empty()) return false;
    bytes_ -= path.size();
    paths_.erase(it);
    return true;
}

void watch_table::not_armed(const std::string& path, waiter who) { forget(path, who); }

void watch_table::drop(const std::string& path, waiter who) {
    if (forget(path, who)) remove_at_server(path);
}

/// A watch that stays is told to nobody, but the C client asks for it again on every connection: so
/// if the connection was lost, it is removed on the next one.
void watch_table::remove_at_server(const std::string& path) {
    gate_.submit(
        lane::user, answered_by::server, 0,
        [this, path](native::calls& c, std::unique_ptr<native::completion> done) {
            if (paths_.contains(path)) return gate::unwanted;
            return c.remove_watches(path, std::move(done));
        },
        [this, path](const native::reply& reply) {
            if (rules::connection_lost(reply.rc)) remove_at_server(path);
        });
}

void watch_table::on_event(native::watch_type type, std::string_view path) {
    const auto what = public_event(type);
    const auto it = paths_.find(std::string(path));
    if (!what || it == paths_.end()) return;
    std::vector<told> told_now;
    for (auto w = it->second.begin(); w != it->second.end();) {
        if (!hears(w->second.kind, *what)) {
            ++w;
            continue;
        }
        told_now.push_back(std::move(w->second.tell));
        w = it->second.erase(w);
    }
    if (it->second.empty()) {
        bytes_ -= path.size();
        paths_.erase(it);
    }
    for (auto& tell : told_now)
        tell({}, *what);
}

void watch_table::end_session(error_code why) { tell_the_end(why, false); }

void watch_table::close(error_code why) { tell_the_end(why, true); }

void watch_table::tell_the_end(error_code why, bool everybody) {
    std::vector<told> told_now;
    for (auto it = paths_.begin(); it != paths_.end();) {
        auto& all = it->second;
        for (auto w = all.begin(); w != all.end();) {
            if (!everybody && !w->second.armed) {
                ++w;
                continue;
            }
            told_now.push_back(std::move(w->second.tell));
            w = all.erase(w);
        }
        if (all.empty()) {
            bytes_ -= it->first.size();
            it = paths_.erase(it);
        } else {
            ++it;
        }
    }
    for (auto& tell : told_now)
        tell(why, watch_event{});
}

} // namespace paddock::detail
