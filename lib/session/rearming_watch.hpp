#pragma once

#include "session/watch_table.hpp"

#include <functional>
#include <memory>
#include <string>

namespace paddock::detail {

/// The watch of one path, which every read of the path sets again: at most one at a time, and none
/// if the budget of watched paths is used up. The destructor drops it. Strand only.
class rearming_watch : public std::enable_shared_from_this<rearming_watch> {
public:
    rearming_watch(watch_table& watches, std::string path, watch_kind kind,
                   std::function<void(watch_event)> on_event);
    ~rearming_watch() { forget(); }
    rearming_watch(const rearming_watch&) = delete;
    rearming_watch& operator=(const rearming_watch&) = delete;

    /// Call before a read is sent; 0: the read must not set a watch.
    watch_table::waiter_id set();
    /// Call when the read was answered. `set`: the answer means that the server has set the watch.
    /// Returns whether the path is watched.
    bool answered(watch_table::waiter_id id, bool set);
    /// Drops the watch.
    void forget();

    /// Whether an event may still come.
    bool waiting() const noexcept { return waiter_ != 0; }
    const std::string& path() const noexcept { return path_; }

private:
    watch_table& watches_;
    std::string path_;
    watch_kind kind_;
    std::function<void(watch_event)> on_event_;
    watch_table::waiter_id waiter_ = 0;
};

} // namespace paddock::detail
