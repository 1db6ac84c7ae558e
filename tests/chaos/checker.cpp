#include "checker.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace paddock::test {

namespace {

using one_lock = std::vector<const hold_record*>; // in the order in which they begin

/// Until when a hold counts.
using end_of = std::int64_t (*)(const hold_record&);

std::int64_t seen_end(const hold_record& h) { return h.until; }

std::int64_t promised_end(const hold_record& h) {
    const auto given_back = h.released == 0 ? std::numeric_limits<std::int64_t>::max() : h.released;
    return std::max(h.until, std::min(h.promise, given_back));
}

std::string text_of(const hold_record& h) {
    std::ostringstream text;
    text << h.contender << " [" << h.from << ", " << h.until << "] promise " << h.promise
         << " released " << h.released << " token " << h.token << " weight " << h.weight
         << (h.kind == share::exclusive ? " exclusive" : "");
    return text.str();
}

bool exclude(const hold_record& a, const hold_record& b) {
    return a.kind == share::exclusive || b.kind == share::exclusive;
}

struct check_of_lock {
    const std::string& name;
    const one_lock& holds;
    const int permits;
    findings& result;
    std::set<const hold_record*> blamed{}; ///< one complaint is enough

    void complain(const char* what, const hold_record& h, const hold_record& other) {
        if (!blamed.insert(&h).second) return;
        result.violations.push_back(name + ": " + what + ":\n    " + text_of(other) + "\n    " +
                                    text_of(h));
    }

    /// One pass in time: which holds last when the next one begins?
    void overlaps(end_of end, const char* what) {
        one_lock inside;
        for (const auto* h : holds) {
            std::erase_if(inside, [&](const auto* other) { return end(*other) < h->from; });
            int taken = h->weight;
            for (const auto* other : inside) {
                if (exclude(*h, *other)) complain(what, *h, *other);
                taken += other->weight;
            }
            if (h->kind == share::permits && taken > permits) complain(what, *h, *inside.back());
            inside.push_back(h);
            result.together = std::max(result.together, inside.size());
        }
    }

    void tokens() {
        const hold_record* highest = nullptr;
        for (const auto* h : holds) {
            if (h->kind != share::exclusive) continue;
            if (highest && highest->token >= h->token)
                complain("a token that did not grow", *h, *highest);
            else
                highest = h;
        }
    }
};

void count(const std::vector<hold_record>& holds, findings& result) {
    result.holds = holds.size();
    for (const auto& h : holds) {
        ++result.grants[h.lock];
        if (h.end == fate::lost) ++result.lost;
        if (h.end == fate::held) ++result.unfinished;
    }
    for (std::size_t i = 1; i < holds.size(); ++i) {
        const boot_clock::duration pause(holds[i].from - holds[i - 1].from);
        if (pause <= result.longest_pause) continue;
        result.longest_pause = pause;
        result.pause_began = boot_clock::time_point(boot_clock::duration(holds[i - 1].from));
    }
}

} // namespace

findings check(std::vector<hold_record> holds, int permits) {
    findings result;
    std::stable_sort(holds.begin(), holds.end(),
                     [](const auto& a, const auto& b) { return a.from < b.from; });
    count(holds, result);
    std::map<std::string, one_lock> locks;
    for (const auto& h : holds)
        locks[h.lock].push_back(&h);
    for (const auto& [name, of_lock] : locks) {
        check_of_lock one{name, of_lock, permits, result};
        one.overlaps(&seen_end, "valid at the same time");
        one.overlaps(&promised_end, "valid while another was promised to be");
        one.tokens();
    }
    return result;
}

} // namespace paddock::test
