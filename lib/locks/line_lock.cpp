#include "locks/line_lock.hpp"

namespace paddock::detail {

entry_terms terms_of(const line_lock& lock, rules::role as, bool immediate) {
    return {.rules = {.as = as,
                      .names = lock.style,
                      .immediate = immediate,
                      .fail_on_expiry = lock.on_expiry == on_expiry::fail},
            .fail_over_budget = immediate || lock.on_over_budget == on_over_budget::fail,
            .persistent_parents = lock.persistent_parents,
            .acl = lock.acl,
            .data = lock.data.at(lock.client->env().wall_clock())};
}

} // namespace paddock::detail
