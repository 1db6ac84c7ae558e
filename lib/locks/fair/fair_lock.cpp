#include "locks/fair/fair_lock.hpp"

#include "client/count_lock.hpp"
#include "locks/call/arguments.hpp"
#include "queue/lock_queues.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/core_of.hpp"
#include "session/listing.hpp"
#include "support/argument.hpp"

#include <paddock/client.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

void check_name(std::string_view name) {
    if (const auto fault = rules::name_fault(name); !fault.empty())
        throw bad_argument("mutex_options::name", name, fault);
    if (rules::reserved(name))
        throw bad_argument("mutex_options::name", name, "contains a name that recipes reserve");
    if (name.size() > longest_path)
        throw bad_argument("mutex path or name", "is longer than 512 bytes");
}

void check_sticky(const mutex_options& options) {
    if (options.max_local_handoffs > 1'000'000)
        throw bad_argument("mutex_options::max_local_handoffs", "is larger than 1000000");
    if (options.linger.count() < 0) throw bad_argument("mutex_options::linger", "is negative");
    if (options.linger > std::chrono::minutes(1))
        throw bad_argument("mutex_options::linger", "is longer than a minute");
}

rules::style style_of(const mutex_options& options) {
    check_enumerator("mutex_options::naming", options.naming, naming::kazoo);
    if (options.naming == naming::curator) return rules::style::curator;
    if (options.name != "lock")
        throw bad_argument("mutex_options::naming", "is for the name 'lock' only");
    return rules::style::kazoo;
}

} // namespace

std::shared_ptr<const fair_lock> make_fair_lock(const client& zk, std::string_view path,
                                                mutex_options options, lock_kind kind) {
    const auto& core = core_of(zk);
    check_path("mutex path", path);
    check_name(options.name);
    check_node(*core, "mutex_options", options.acl, options.label);
    check_choices("mutex_options", options.on_expiry, options.on_over_budget);
    check_hold_limit("mutex_options", options.hold_limit);
    check_sticky(options);
    const rules::sticky_terms terms{options.max_local_handoffs, options.linger};
    return std::make_shared<fair_lock>(
        fair_lock{.client = core,
                  .directory = rules::below(core->root(), path),
                  .names = rules::naming(options.name),
                  .style = style_of(options),
                  .nodes = make_node_terms(*core, options, terms.any()),
                  .sync_first = options.sync_first,
                  .revocable = options.revocable,
                  .on_expiry = options.on_expiry,
                  .on_over_budget = options.on_over_budget,
                  .hold_limit = options.hold_limit,
                  .sticky = terms,
                  .counted = count_lock(*core, "mutex_options", options.group,
                                        rules::below(core->root(), path), kind, options.label)});
}

std::shared_ptr<const fair_lock> make_fair_lock(const client& zk, std::string_view path,
                                                shared_mutex_options options, lock_kind kind) {
    const auto& core = core_of(zk);
    check_path("shared_mutex path", path);
    check_node(*core, "shared_mutex_options", options.acl, options.label);
    check_choices("shared_mutex_options", options.on_expiry, options.on_over_budget);
    check_hold_limit("shared_mutex_options", options.hold_limit);
    return std::make_shared<fair_lock>(
        fair_lock{.client = core,
                  .directory = rules::below(core->root(), path),
                  .names = rules::naming::of_shared_mutex(),
                  .nodes = make_node_terms(*core, options),
                  .sync_first = options.sync_first,
                  .revocable = options.revocable,
                  .on_expiry = options.on_expiry,
                  .on_over_budget = options.on_over_budget,
                  .hold_limit = options.hold_limit,
                  .counted = count_lock(*core, "shared_mutex_options", options.group,
                                        rules::below(core->root(), path), kind, options.label)});
}

std::shared_ptr<lock_queue> queue_of(const fair_lock& lock) {
    return lock.client->use<lock_queues>().get(lock.directory, lock.names, lock.turn_only);
}

entry_terms terms_of(const fair_lock& lock, rules::role as, bool immediate) {
    return {.rules = {.as = as,
                      .style = lock.style,
                      .immediate = immediate,
                      .fail_on_expiry = lock.on_expiry == on_expiry::fail,
                      .turn_only = lock.turn_only,
                      .own_directory = lock.own_directory},
            .fail_over_budget = lock.on_over_budget == on_over_budget::fail,
            .nodes = lock.nodes,
            .since = lock.client->env().wall_clock()};
}

std::size_t entry_bytes(const fair_lock& lock, rules::role as) {
    return queue_of(lock)->entry_bytes({.as = as, .style = lock.style});
}

error_code listing_error(core& client, int code) {
    if (client.closed()) return client.close_reason();
    switch (rules::judge(rules::request_kind::list, code)) {
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

namespace {
using check_done = unique_function<void(error_code, bool free)>;
}

void check_if_free(std::shared_ptr<const fair_lock> lock, std::shared_ptr<lock_queue> queue,
                   rules::role as, check_done done) {
    auto& client = *lock->client;
    if (client.state() != client_state::connected) return done(errc::not_connected, false);
    if (queue->local_blocker(as)) return done({}, false);
    if (lock->sync_first) catch_up(client.dispatcher(), lane::user, queue->directory());
    const auto directory = queue->directory();
    // The listing may wait for the next connection; the caller must not.
    const auto pending = std::make_shared<check_done>(std::move(done));
    const auto waiter = client.when_not(client_state::connected, [pending, &client](client_state) {
        if (auto complete = std::exchange(*pending, {}))
            complete(client.closed() ? client.close_reason() : errc::not_connected, false);
        return false;
    });
    list(client.dispatcher(), lane::user, directory,
         [lock = std::move(lock), queue = std::move(queue), as, pending,
          waiter](int code, std::vector<std::string> names) {
             lock->client->stop_waiting(waiter);
             auto complete = std::exchange(*pending, {});
             if (!complete) return;
             if (const auto problem = listing_error(*lock->client, code))
                 return complete(problem, false);
             complete({}, !queue->foreign_blocker(names, as) && !queue->local_blocker(as));
         });
}

} // namespace paddock::detail
