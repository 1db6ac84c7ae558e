#pragma once

#include "session/watch_table.hpp"

#include <functional>
#include <memory>
#include <string>

namespace paddock::detail {

/// The watch of one path, set again by every read of it: at most one at a time, and none when the
/// client may not watch any more. It goes with this object. Strand only.
class rearming_watch : public std::enable_shared_from_this<rearming_watch> {
public:
    rearming_watch(watch_table& watches, std::string path, watch_kind kind,
                   std::function<void(watch_event)> heard);
    ~rearming_watch() { forget(); }
    rearming_watch(const rearming_watch&) = delete;
    rearming_watch& operator=(const rearming_watch&) = delete;

    /// Before a read is sent; 0: it is not to set a watch.
    watch_table::waiter set();
    /// The read was answered; `seen`: so that it has set the watch. Whether there is one.
    bool answered(watch_table::waiter asked, bool seen);
    /// Nobody wants to hear of it any more.
    void forget();

    const std::string& path() const noexcept { return path_; }

private:
    watch_table& watches_;
    std::string path_;
    watch_kind kind_;
    std::function<void(watch_event)> heard_;
    watch_table::waiter waiter_ = 0;
};

} // namespace paddock::detail
