#pragma once

#include "rules/claims.hpp"
#include "rules/permits.hpp"
#include "rules/queue.hpp"
#include "rules/session_state.hpp"
#include "rules/simple.hpp"
#include "unit/explore/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace paddock::rules {

/// Writes the state of the rules' objects down. It names every member, so that a new member does
/// not compile until it is decided here what it means for a state. Times are left out: the explorer
/// has no clock.
struct state_of_rules {
    using shape = test::explore::shape;

    static void see(const claims& of, shape& out) {
        const auto& [session, session_text, session_digits, last, claimed] = of;
        std::vector<node_id> ids(claimed.begin(), claimed.end());
        std::sort(ids.begin(), ids.end());
        out.add(session, ids.size());
        for (const auto id : ids)
            out.put(shape::node, id);
    }

    /// The next id is one more.
    static void number_from(claims& of, node_id last) { of.last_ = last; }

    static void see(const queue& of, std::uint64_t, shape& out) {
        const auto& [names, ids, most_creates, all_contenders, held_back, nodes, session, directory,
                     blocker_reads, leftovers, outside_holds, outside_since, listing_in_flight,
                     listing_wanted, listings_sent, own_losses, warned, watch_first, show_positions,
                     actions] = of;
        const auto& [contenders, counts] = all_contenders;
        const auto& [in_table, waiting, unlisted, creating, unknown, holders, reported_stuck] =
            counts;
        const auto& [has_shared, table, exclusive_nodes, waiting_shared, deleted] = nodes;
        const auto& [free, making, own, perhaps, keyed, shared_told] = directory;
        out.add(contenders.size(), held_back, table.size(), deleted.size(), blocker_reads.size(),
                leftovers.empty());
        for (const auto& [key, one] : contenders)
            see(one, listings_sent, own_losses, out);
        for (const auto& [where, one] : table) {
            const auto& [local, watch, as] = one;
            out.name(where.name);
            out.add(local ? local->key : 0, watch, as);
        }
        for (const auto* const some : {&exclusive_nodes, &waiting_shared}) {
            out.add(some->size());
            for (const auto& one : *some)
                out.name(one->first.name);
        }
        for (const auto& name : deleted)
            out.name(name);
        for (const auto& [name, count] : blocker_reads)
            out.name(name), out.add(count);
        out.add(in_table, creating, waiting, unlisted, unknown, holders, reported_stuck,
                outside_holds, listing_in_flight, listing_wanted, free, making, own, perhaps, keyed,
                shared_told, warned, watch_first, show_positions, actions.size());
        see(session, out);
    }

    static void see(const permits& of, std::uint64_t scope, shape& out) {
        const auto& [ids, how, session, at, nodes, unwanted_creates, node_count, permit_count,
                     complete, permits_known, too_few_free, directory_watched, counter_watched,
                     listing_in_flight, listing_wanted, listings_sent, counter_read_in_flight,
                     counter_read_wanted, counter_reads_sent, watch_nodes, first_revoke, out_sent,
                     others, seen, leftovers, lacking_since, next_looks, actions] = of;
        out.add(at, nodes.size(), unwanted_creates.size(), others.size(), seen.size(),
                leftovers.empty());
        for (const auto& one : nodes) {
            const auto& [presence, id, name, first_listing, own_watch, revokes] = one;
            out.add(presence, own_watch, revokes.first());
            out.put(shape::node, id);
            out.name(name);
            out.put(shape::look, first_listing, scope);
        }
        for (const auto id : unwanted_creates)
            out.put(shape::node, id);
        out.put(shape::look, listings_sent, scope);
        out.put(shape::look, counter_reads_sent, scope);
        out.add(node_count, permit_count, complete, permits_known, too_few_free, directory_watched,
                counter_watched, listing_in_flight, listing_wanted, counter_read_in_flight,
                counter_read_wanted, watch_nodes, first_revoke, out_sent, actions.size());
        see(session, out);
    }

    static void see(const simple& of, std::uint64_t scope, shape& out) {
        const auto& [ids, how, session, callers, glances, at, id, race_outcome, race_code, czxid,
                     revokes, own_node, leftovers, looks_sent, look_in_flight, watched, actions] =
            of;
        out.add(callers.size(), glances.size());
        for (const auto& [key, immediate, since, reported_stuck] : callers)
            out.add(key, immediate, reported_stuck);
        for (const auto key : glances)
            out.add(key);
        out.add(at, race_outcome, race_code, revokes.first(), own_node.has_value(),
                leftovers.empty());
        out.put(shape::node, id);
        out.put(shape::zxid, czxid);
        if (own_node) out.put(shape::zxid, own_node->czxid);
        out.put(shape::look, looks_sent, scope);
        out.add(look_in_flight, watched, actions.size());
        see(session, out);
    }

    /// Points the iterators of a copy into its own table.
    static void mend(queue& copy) {
        const auto here = [&](node_table::iterator there) {
            return copy.table_.find(there->first);
        };
        for (auto& [key, one] : copy.contenders_) {
            if (!one.in_table()) continue;
            one.node = here(one.node);
            one.node->second.local = &one;
        }
        for (auto* const some : {&copy.table_.exclusive_, &copy.table_.waiting_shared_}) {
            node_table::node_set mended;
            for (const auto& one : *some)
                mended.insert(here(one));
            *some = std::move(mended);
        }
    }

private:
    static void see(const session_state& of, shape& out) {
        const auto& [now, connected, making_parents, pausing, lease_fit, awaiting_lease] = of;
        out.add(connected, making_parents, pausing, lease_fit, awaiting_lease);
    }

    /// Of the counters only the differences matter.
    static void see(const contender& of, std::uint64_t listings_sent, std::uint64_t own_losses,
                    shape& out) {
        const auto& [key, how, reported_stuck, since, id, at, quitting, listed, with_directory,
                     revokes, own_watch, losses_when_armed, downgrade_id, first_listing, czxid,
                     node] = of;
        out.add(key, how.as, reported_stuck, at, quitting, listed, with_directory, revokes.first(),
                own_watch, losses_when_armed == own_losses, first_listing > listings_sent);
        out.put(shape::node, id);
        out.put(shape::node, downgrade_id);
        out.put(shape::zxid, czxid);
    }
};

/// A queue that can be copied.
struct copied_queue : queue {
    using queue::queue;
    copied_queue(const copied_queue& other) : queue(other) { state_of_rules::mend(*this); }
    copied_queue& operator=(const copied_queue&) = delete;
};

} // namespace paddock::rules
