#include "locks/entering.hpp"

#include "line/line_table.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"

#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

std::shared_ptr<line> line_of(const line_lock& lock) {
    return line_table::of(*lock.client).find(lock.directory, lock.names);
}

entry_terms terms_of(const line_lock& lock, rules::role as, bool only_if_free) {
    return {.rules = {.as = as,
                      .names = lock.style,
                      .immediate = only_if_free,
                      .fail_on_expiry = lock.on_expiry == on_expiry::fail},
            .fail_over_budget = only_if_free || lock.on_over_budget == on_over_budget::fail,
            .persistent_parents = lock.persistent_parents,
            .acl = lock.acl,
            .data = lock.data.at(lock.client->env().wall_clock())};
}

error_code look_problem(core& client, int code) {
    if (client.closed()) return client.close_reason();
    switch (rules::judge(rules::request::list, code)) {
    case rules::outcome::done:
    case rules::outcome::missing:
        return {};
    case rules::outcome::lost:
    case rules::outcome::not_sent:
        return errc::not_connected;
    default:
        return zookeeper_error(code);
    }
}

void look_first(std::shared_ptr<const line_lock> lock, std::shared_ptr<line> at, rules::role as,
                unique_function<void(error_code, bool free)> done) {
    auto& client = *lock->client;
    if (client.state() != client_state::connected) return done(errc::not_connected, false);
    if (at->occupied(as)) return done({}, false);
    if (lock->sync_first) catch_up(client, lane::user, at->directory());
    const auto directory = at->directory();
    list(client, lane::user, directory,
         [lock = std::move(lock), at = std::move(at), as,
          done = std::move(done)](int code, std::vector<std::string> names) mutable {
             if (const auto problem = look_problem(*lock->client, code))
                 return done(problem, false);
             done({}, !at->taken(names, as) && !at->occupied(as));
         });
}

} // namespace paddock::detail
