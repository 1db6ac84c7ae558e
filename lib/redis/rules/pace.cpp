#include "redis/rules/pace.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace paddock::redis::rules {

namespace {

using duration = boot_clock::duration;

// Each of these is a trade between requests and the time for which a free lock has no holder.

/// Split votes in a row: 2^10 of the shortest round trip make longest_sleep. With more of them most
/// pauses would be exactly that, and rivals would meet again.
constexpr int most_doublings = 10;
/// Lost races: 2^3 round trips. More leave a lock free for longer, fewer cost a crowd more requests
/// (a grant among 100 clients of three servers: 65 commands without such pauses, 34 with 2^6).
constexpr int longest_race = 3;
/// Pauses are drawn from round trips, which are zero before the first reply. With less, rivals on
/// one machine meet again; with more a free lock waits for them.
constexpr std::chrono::milliseconds shortest_round_trip{1};
/// The same for a race. It is shorter, because the lock certainly is free.
constexpr std::chrono::microseconds shortest_race{100};
/// A pause is jittered by up to so many round trips: with less, the waiters behind one hold ask at
/// once; more is added to each wait.
constexpr int trips_of_jitter = 2;
/// A yield lasts for so many round trips at least: a message to the rival and its request take one
/// if it is as near as we are, and the rest is for rivals that are farther away.
constexpr int trips_of_yield = 4;
/// The time in which a rival's program gets the processor. If no rival comes, it is lost.
constexpr std::chrono::milliseconds shortest_yield{10};
/// The longest yield: if no rival comes, the lock is free for so long although a caller waits.
constexpr std::chrono::milliseconds longest_part{250};
/// A yield is an eighth of the time of the holds before: so much slower are the calls of a client
/// whose rivals do not come.
constexpr int part_for_rivals = 8;
/// Fewer take a rival that is slow once for a stopped one; each costs a yield.
constexpr int enough_unused_yields = 4;
/// Looks at another program's key: each waiter makes at most fifty in a second.
constexpr std::chrono::milliseconds shortest_foreign_sleep{20};
/// Such a pause grows by doubling and shrinks twice as fast, so that the looks come close although
/// not every one finds a new value.
constexpr int growth_of_foreign_sleep = 2;
constexpr int shrinkage_of_foreign_sleep = 4;

duration part_of(duration whole, std::uint64_t random) {
    return duration(static_cast<duration::rep>(random % static_cast<std::uint64_t>(whole.count())));
}

/// The keys with one value, each on another server.
using keys_of_holder = std::map<std::string_view, std::vector<const answer*>>;

keys_of_holder holders_of(const attempt& failed) {
    keys_of_holder all;
    for (const auto& said : failed.refusals())
        if (said && said->what == answer::kind::taken) all[said->holder].push_back(&*said);
    return all;
}

/// Until the first of the servers that may have lost their data is of age.
duration until_of_age(const attempt& failed) {
    duration least = duration::max();
    for (const auto& said : failed.refusals())
        if (said && said->what == answer::kind::young)
            least = std::min<duration>(least, said->left);
    return least;
}

} // namespace

/// Until fewer than `needed` of these keys are left. The release of a key that has this library's
/// form can be heard, unless it belongs to an attempt that fails: one of several keys may do so.
duration pace::sleep_behind(const std::vector<const answer*>& same, std::size_t needed,
                            bool is_heard) {
    // A message can be lost. With a third a waiter asks no more often than a holder renews its key.
    const auto heard_sleep = ttl_ / 3;
    std::vector<duration> ends;
    ends.reserve(same.size());
    for (const auto* one : same)
        ends.push_back(one->left.count() < 0 ? duration::max() : one->left);
    const auto decisive = ends.end() - static_cast<std::ptrdiff_t>(needed);
    std::nth_element(ends.begin(), decisive, ends.end());
    const auto& holder = same.front()->holder;
    if (!is_lock_value(holder)) return std::min(*decisive, sleep_behind_foreigner(holder));
    return std::min(*decisive, is_heard ? heard_sleep : duration(longest_sleep));
}

/// A key that has another value than at the last look was free in between: who takes a lock again
/// and again leaves it free for moments only, so the looks must come closer.
duration pace::sleep_behind_foreigner(const std::string& holder) {
    const bool changed = !foreigner_.empty() && holder != foreigner_;
    foreigner_ = holder;
    foreign_sleep_ =
        changed ? std::max<duration>(foreign_sleep_ / shrinkage_of_foreign_sleep,
                                     shortest_foreign_sleep)
                : std::min<duration>(foreign_sleep_ * growth_of_foreign_sleep, longest_sleep);
    return foreign_sleep_;
}

pace::plan pace::after(const attempt& failed, duration round_trip, bool hears,
                       std::uint64_t random) {
    const auto trip = std::max<duration>(round_trip, shortest_round_trip);
    const auto quorum = static_cast<std::size_t>(failed.quorum());
    const auto needed = failed.first_is_taken() ? 1 : quorum;
    const auto holders = holders_of(failed);
    if (!holders.empty()) rival_had_it();
    for (const auto& [value, keys] : holders)
        if (keys.size() >= needed) {
            splits_ = 0;
            if (std::exchange(races_, false)) lost_races_ = std::min(lost_races_ + 1, longest_race);
            return {sleep_behind(keys, needed, hears && keys.size() >= quorum) +
                        part_of(trips_of_jitter * trip, random),
                    false};
        }
    if (const auto young = until_of_age(failed); young != duration::max())
        return {std::min<duration>(young, longest_sleep) + part_of(trips_of_jitter * trip, random),
                false};
    splits_ = std::min(splits_ + 1, most_doublings);
    return {std::min<duration>(part_of(trip * (1 << splits_), random), longest_sleep), true};
}

duration pace::after_message(duration round_trip, std::uint64_t random) {
    races_ = true;
    if (lost_races_ == 0) return {};
    const auto trip = std::max<duration>(round_trip, shortest_race);
    return std::min<duration>(part_of(trip * (1 << lost_races_), random), longest_sleep);
}

void pace::granted() noexcept {
    splits_ = lost_races_ = 0;
    foreigner_.clear();
    if (std::exchange(has_yielded_, false))
        unused_yields_ = std::min(unused_yields_ + 1, enough_unused_yields);
}

boot_clock::duration pace::yield(duration kept, duration round_trip) {
    kept_ += kept;
    const auto least = std::max<duration>(trips_of_yield * round_trip, shortest_yield);
    const auto part = kept_ / part_for_rivals;
    if (unused_yields_ >= enough_unused_yields && part < least) return {};
    kept_ = {};
    has_yielded_ = true;
    return std::max(least, std::min<duration>(part, longest_part));
}

void pace::rival_had_it() noexcept {
    has_yielded_ = false;
    unused_yields_ = 0;
}

} // namespace paddock::redis::rules
