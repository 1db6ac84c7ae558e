#pragma once

#include "rules/contender.hpp"

#include <cstddef>
#include <map>

namespace paddock::rules {

/// How many contenders of a queue are in which state.
struct contender_counts {
    std::size_t in_table = 0;       ///< waiting or granted
    std::size_t waiting = 0;        ///< in the table, and not granted
    std::size_t unlisted = 0;       ///< of these, those whose first listing has not arrived
    std::size_t creating = 0;       ///< their create is under way, without a directory
    std::size_t unknown = 0;        ///< the outcome of their create is unknown
    std::size_t holders = 0;        ///< see contender::holds()
    std::size_t reported_stuck = 0; ///< in the table, and reported

    friend bool operator==(const contender_counts&, const contender_counts&) = default;
};

/// The contenders of one queue, in the order in which they joined.
///
/// Invariant: counts() is what a walk through the contenders counts. Their states change only by
/// change(), so that it is kept in one place.
class contenders {
public:
    using all = std::map<contender_key, contender>;

    contender& add(contender_key key, contender_terms how);
    void erase(contender_key key);
    /// Null if there is none.
    contender* find(contender_key key);
    const contender* find(contender_key key) const;

    /// Makes a change to the contender's stage, `listed`, `with_directory` or `reported_stuck`.
    template <typename Change>
    void change(contender& c, Change make) {
        count(c, counts_, -1);
        make();
        count(c, counts_, +1);
    }
    void move_to(contender& c, contender::stage next) {
        change(c, [&] { c.at = next; });
    }
    /// It is about to join, as if for the first time.
    void begin_again(contender& c);

    const contender_counts& counts() const noexcept { return counts_; }
    /// What a walk through the contenders counts.
    contender_counts counted() const;

    all::iterator begin() noexcept { return all_.begin(); }
    all::iterator end() noexcept { return all_.end(); }
    all::const_iterator begin() const noexcept { return all_.begin(); }
    all::const_iterator end() const noexcept { return all_.end(); }
    all::iterator at_or_behind(contender_key key) { return all_.lower_bound(key); }
    bool empty() const noexcept { return all_.empty(); }
    std::size_t size() const noexcept { return all_.size(); }

private:
    friend struct state_of_rules; ///< of tests that look at every state
    static void count(const contender& c, contender_counts& counts, int change) noexcept;

    all all_;
    contender_counts counts_;
};

} // namespace paddock::rules
