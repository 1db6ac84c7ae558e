#pragma once

#include "rules/sticky.hpp"
#include "unit/taken.hpp"

#include <chrono>
#include <string>
#include <variant>

namespace paddock::test {

namespace sticky_act = rules::sticky_act;

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
        line.connected();
    }
    std::string actions() {
        std::string text;
        for (const auto& action : taken(line))
            text += (text.empty() ? "" : ", ") +
                    std::visit([](const auto& a) { return words(a); }, action);
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
    std::string quit(std::uint64_t who) { return say(&sticky::quit, who); }
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

    static std::string words(const sticky_act::join& a) {
        return (a.immediate ? "try " : "join ") + std::to_string(a.who);
    }
    static std::string words(const sticky_act::quit&) { return "quit"; }
    static std::string words(const sticky_act::release&) { return "release"; }
    static std::string words(const sticky_act::watch&) { return "watch"; }
    static std::string words(const sticky_act::keep&) { return "keep"; }
    static std::string words(const sticky_act::unkeep&) { return "unkeep"; }
    static std::string words(const sticky_act::grant& a) {
        return "grant " + std::to_string(a.who) + "/" + std::to_string(a.count);
    }
    static std::string words(const sticky_act::busy& a) { return "busy " + std::to_string(a.who); }
    static std::string words(const sticky_act::fail& a) { return "fail " + std::to_string(a.who); }

    sticky line;
};

} // namespace paddock::test
