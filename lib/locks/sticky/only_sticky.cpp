#include "locks/sticky/only_sticky.hpp"

#include "rules/paths.hpp"
#include "session/listing.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

void when_only_sticky(const std::shared_ptr<const fair_lock>& lock,
                      unique_function<void(bool)> done) {
    auto& client = *lock->client;
    if (client.state() != client_state::connected) return done(false);
    list(client.dispatcher(), lane::user, lock->directory,
         [lock, done = std::move(done)](int code, const std::vector<std::string>& names) mutable {
             if (listing_error(*lock->client, code) ||
                 lock->client->state() != client_state::connected ||
                 queue_of(*lock)->local_blocker(rules::role::exclusive))
                 return done(false);
             const auto contends = [&](const std::string& name) {
                 return lock->names.read(name).has_value();
             };
             const auto first = std::find_if(names.begin(), names.end(), contends);
             const auto count = std::count_if(first, names.end(), contends);
             if (count == 0) return done(true);
             if (count > 1 || rules::own_id(*first, lock->client->claims())) return done(false);
             lock->client->dispatcher().submit(
                 lane::user, requests::get{rules::child(lock->directory, *first)},
                 [done = std::move(done)](const native::reply& r) mutable {
                     done(zookeeper_error(r.rc) == zk_errc::no_node ||
                          (r.rc == 0 && says_sticky(r.value)));
                 });
         });
}

} // namespace paddock::detail
