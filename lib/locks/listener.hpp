#pragma once

#include "session/core.hpp"
#include "support/bridge.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace paddock::detail {

/// Somebody who waits to be told something. Empty when the wait was cancelled, or is over.
struct listener {
    bridge<error_code> user;
};
using listener_ptr = std::shared_ptr<listener>;

/// A cancelled one hears so on the client's strand, where it must be added to what it waits for.
listener_ptr make_listener(const std::shared_ptr<core>& client, handler<void(error_code)>&& h);

/// All who wait for one thing. On the strand.
class listeners {
public:
    void add(listener_ptr who);
    void tell(error_code what);
    std::size_t size() const noexcept { return all_.size(); }

private:
    std::vector<listener_ptr> all_;
};

} // namespace paddock::detail
