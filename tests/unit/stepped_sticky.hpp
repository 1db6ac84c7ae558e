#pragma once

#include "rules/sticky.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace paddock::test {

using namespace std::chrono_literals;
using rules::sticky;
using rules::sticky_terms;
using listing = sticky::listing;

inline constexpr sticky_terms handoffs{.max_local_handoffs = 2};
inline constexpr sticky_terms lingers{.linger = 100ms};
inline constexpr sticky_terms both{.max_local_handoffs = 2, .linger = 100ms};

/// Takes facts, and returns the wanted actions in words; `grant 3/1` is the second hold of a node.
struct stepped_sticky {
    explicit stepped_sticky(sticky_terms how, std::uint32_t last = sticky::last_count)
        : line(how, last) {
        at(0ms);
    }
    std::string actions() {
        std::vector<sticky::action> all;
        line.take(all);
        std::string text;
        for (const auto& a : all)
            text += (text.empty() ? "" : ", ") + words(a);
        return text;
    }
    template <typename What, typename... Args>
    std::string say(What what, Args... args) {
        (line.*what)(args...);
        return actions();
    }
    std::string join(std::uint64_t who, bool immediate = false) {
        return say(&sticky::join, who, immediate);
    }
    std::string leave(std::uint64_t who) { return say(&sticky::leave, who); }
    std::string granted() { return say(&sticky::granted); }
    std::string released(bool passable = true) { return say(&sticky::released, passable); }
    std::string listed(listing what) { return say(&sticky::listed, what); }
    std::string changed() { return say(&sticky::children_changed); }
    void at(boot_clock::duration t) { line.now(boot_clock::time_point(1h + t)); }
    std::string tick(boot_clock::duration t) {
        at(t);
        return say(&sticky::tick);
    }
    /// The waiters 1 to n; the first has the lock, and the client sees that it is alone.
    void crowd(std::uint64_t n) {
        for (std::uint64_t who = 1; who <= n; ++who)
            join(who);
        granted();
        listed(listing::alone);
    }
    /// The lock was released, and lingers.
    void linger() {
        crowd(1);
        released();
    }

    static std::string words(const sticky::action& a) {
        using kind = sticky::action::kind;
        const auto who = std::to_string(a.who);
        switch (a.what) {
        case kind::join:
            return (a.immediate ? "try " : "join ") + who;
        case kind::quit:
            return "quit";
        case kind::release:
            return "release";
        case kind::watch:
            return "watch";
        case kind::keep:
            return "keep";
        case kind::unkeep:
            return "unkeep";
        case kind::grant:
            return "grant " + who + "/" + std::to_string(a.count);
        case kind::busy:
            return "busy " + who;
        case kind::fail:
            return "fail " + who;
        }
        return "?";
    }

    sticky line;
};

} // namespace paddock::test
