#pragma once

#include "client_support.hpp"
#include "support/admin.hpp"

#include <cstddef>
#include <string>

// Helpers for the tests of watches.

namespace paddock::test {

/// A client behind a proxy, and another one that changes what the client watches: the node `path`,
/// and what is below it.
struct watch_scene {
    explicit watch_scene(asio::any_io_executor executor, client_options options = {})
        : zk(executor, proxy.address(), std::move(options)) {
        direct.create(path, "1");
    }

    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string path = fresh_root();
    client zk;

    /// Watches of sessions at this node, and below it.
    std::size_t watches(const std::string& below = {}) const {
        return count_watches_under(shared_server().admin_port(), path + below);
    }
    asio::awaitable<void> until_no_watches() {
        co_await eventually([&] { return watches() == 0; });
    }
};

/// The event of a watch that must have happened already.
inline asio::awaitable<watch_event> latched(paddock::watch& changed) {
    co_await eventually([&] { return changed.happened(); });
    const auto what = co_await changed.event();
    co_return what;
}

/// The error of event() for a watch without a coming event.
inline asio::awaitable<error_code> end_of(paddock::watch& changed) {
    co_await eventually([&] { return changed.happened(); });
    const auto [error, what] = co_await changed.event(no_throw);
    CHECK(error);
    co_return error;
}

} // namespace paddock::test
