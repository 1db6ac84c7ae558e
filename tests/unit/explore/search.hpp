#pragma once

#include "unit/explore/scene.hpp"
#include "unit/explore/setup.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace paddock::test::explore {

using choices = std::vector<std::size_t>;

inline std::string text(const choices& made) {
    std::string out;
    for (const auto one : made)
        out += (out.empty() ? "" : ",") + std::to_string(one);
    return out;
}

inline choices read_choices(std::string_view text) {
    choices out;
    const auto* const end = text.data() + text.size();
    for (const auto* at = text.data(); at < end; ++at)
        at = std::from_chars(at, end, out.emplace_back()).ptr;
    return out;
}

struct finding {
    std::size_t states = 0;
    std::size_t runs = 0; ///< that reached the end, or a known state
    std::string fault{};  ///< empty: none
    choices made{};       ///< the choices that led to the fault
};

/// Plays all runs of a scene, depth first, but continues from each state only once. One scene is
/// played; states are copies of it, and their references point into the played one.
template <class Scene>
class search {
public:
    explicit search(const setup& what) : living_(what, note_) {}

    finding run() {
        try {
            enter();
            while (!path_.empty())
                step();
        } catch (const violation& v) {
            found_.fault = v.what();
            for (const auto& one : path_)
                found_.made.push_back(one.next - 1);
        }
        found_.states = seen_.size();
        return found_;
    }

    /// Plays one run by its choices, and returns the fault.
    std::string replay(const choices& made, std::function<void(const std::string&)> told) {
        note_.told = std::move(told);
        try {
            for (const auto one : made) {
                const auto moves = living_.moves();
                must(one < moves.size(), "there is no such choice");
                living_.play(moves[one]);
            }
            if (living_.moves().empty()) living_.check_end();
        } catch (const violation& v) {
            return v.what();
        }
        return {};
    }

private:
    struct state {
        std::unique_ptr<Scene> copy;
        std::vector<move> moves;
        std::size_t next = 0;
    };

    void step() {
        auto& here = path_.back();
        if (here.next == here.moves.size()) return path_.pop_back();
        if (here.next > 0) {
            living_.~Scene();
            new (&living_) Scene(*here.copy);
        }
        const auto chosen = here.moves[here.next++];
        if (here.next == here.moves.size()) here.copy.reset();
        living_.play(chosen);
        enter();
    }
    void enter() {
        shape_.clear();
        living_.see(shape_);
        if (!seen_.insert(shape_.finish()).second) {
            ++found_.runs;
            return;
        }
        auto moves = living_.moves();
        if (moves.empty()) {
            living_.check_end();
            ++found_.runs;
            return;
        }
        auto copy = moves.size() > 1 ? std::make_unique<Scene>(living_) : nullptr;
        path_.push_back({std::move(copy), std::move(moves)});
    }

    story note_;
    Scene living_;
    shape shape_;
    std::unordered_set<digest, digest::hash> seen_;
    std::vector<state> path_;
    finding found_;
};

} // namespace paddock::test::explore
