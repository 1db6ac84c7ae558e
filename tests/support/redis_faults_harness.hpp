#pragma once

#include "redis_harness.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Helpers for the tests of what goes wrong with the servers of a lock.

namespace paddock::test {

/// The lines of a client's log.
class log_lines {
public:
    std::function<void(std::string_view)> writer() const {
        return [all = all_](std::string_view line) { all->emplace_back(line); };
    }
    std::size_t count(std::string_view part) const {
        return static_cast<std::size_t>(
            std::count_if(all_->begin(), all_->end(), [&](const std::string& line) {
                return line.find(part) != std::string::npos;
            }));
    }
    bool has(std::string_view part) const { return count(part) > 0; }
    std::string text() const {
        std::string all;
        for (const auto& line : *all_)
            all += line + '\n';
        return all;
    }

private:
    std::shared_ptr<std::vector<std::string>> all_ = std::make_shared<std::vector<std::string>>();
};

inline std::vector<redis_server> own_servers(std::size_t count,
                                             const std::vector<std::string>& arguments = {},
                                             std::string_view shifted_clock = {}) {
    std::vector<redis_server> all;
    for (std::size_t n = 0; n < count; ++n)
        all.push_back(make_redis_server(arguments, shifted_clock));
    return all;
}

/// A test that waits for seconds is too long to be torn down after each of its steps.
inline bool torn_down(co_context& test) { return test.full_or_brief(false, true); }

/// Short-lived locks, for what ends them; a busy machine must not.
inline redis::client_options short_locks() {
    auto options = new_servers(scaled(1200ms));
    options.max_ttl = scaled(1500ms);
    return options;
}

/// Servers of the test's own, of age, and a scene whose client does not trust a server without
/// its marker.
struct redis_trouble {
    explicit redis_trouble(asio::any_io_executor executor, std::size_t count = 1,
                           redis::client_options terms = short_locks(),
                           const std::vector<std::string>& arguments = {},
                           std::string_view shifted_clock = {})
        : own(own_servers(count, arguments, shifted_clock)), options(std::move(terms)) {
        options.trust_new_servers = false;
        options.log = log.writer();
        for (const auto& one : own) {
            const auto all = redis::rules::deployment{options.max_ttl, static_cast<int>(count),
                                                      true, std::stoi(database_of(count))};
            const redis::rules::lock_keys keys("of age");
            call(one)->run(redis::rules::script::acquire,
                           redis::rules::acquire_words(keys, "value", 1ms, all));
        }
        s = std::make_unique<redis_scene>(executor, count, options, &own);
        other = std::make_unique<redis::client>(executor, url_of(s->ports), options);
        theirs = std::make_unique<redis::mutex>(*other, s->name);
    }

    /// A new connection to a server, in the database of the locks.
    std::unique_ptr<redis_caller> call(const redis_server& server) const {
        auto made = std::make_unique<redis_caller>(server.plain_port());
        (*made)({"SELECT", database_of(own.size())});
        return made;
    }
    std::unique_ptr<redis_caller> call(std::size_t server = 0) const { return call(own[server]); }
    /// Has a client of this server's that hears of this lock's releases.
    bool has_listener(std::size_t server = 0) const {
        const auto said = (*call(server))({"PUBSUB", "NUMSUB", "paddock:free:" + s->name});
        return said.items.size() > 1 && said.items[1].number > 0;
    }

    std::vector<redis_server> own;
    redis::client_options options;
    log_lines log; ///< of both clients
    std::unique_ptr<redis_scene> s;
    std::unique_ptr<redis::client> other; ///< another client, and its mutex of the same name
    std::unique_ptr<redis::mutex> theirs;
};

/// What a test does to all servers, or to so many.
template <class Do>
void to_servers(redis_trouble& at, std::size_t count, Do work) {
    for (std::size_t n = 0; n < count; ++n)
        work(at.own[n]);
}

} // namespace paddock::test
