#include "queue/restore_data.hpp"

#include "rules/outcome.hpp"

#include <utility>

namespace paddock::detail {

/// In the lane whose requests wait for a connection: those of locks are refused without one.
void restore_data(core& client, request what) {
    auto again = what;
    client.dispatcher().submit(lane::user, std::move(what),
                               [&client, again = std::move(again)](const native::reply& r) mutable {
                                   const auto result =
                                       rules::judge(rules::request_kind::look, r.rc);
                                   const bool unanswered = result == rules::outcome::lost ||
                                                           result == rules::outcome::not_sent;
                                   if (unanswered && !client.closed())
                                       restore_data(client, std::move(again));
                               });
}

} // namespace paddock::detail
