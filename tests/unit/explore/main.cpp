// Explores all interleavings of a few contenders, network events and a few troubles, over the pure
// rules and a model of an ensemble: those of one case, or of each case of a list.
//
//   explore [--whole] [queue | permits | simple]     the usual cases; --whole: the slow ones, too
//   explore queue XX+X loss quit                     one case: see setup.hpp
//   explore --choices 0,2,1 queue XX+X loss quit     prints one run
//   explore --caught simple                          succeeds if a check fails
//   explore_planted --plant BUG …                    with one of the planted bugs
#include "support/planted.hpp"
#include "unit/explore/cases.hpp"
#include "unit/explore/permits.hpp"
#include "unit/explore/queue.hpp"
#include "unit/explore/search.hpp"
#include "unit/explore/simple.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace paddock::test::explore;

struct options {
    bool whole = false, caught = false;
    std::optional<choices> told{};
    std::string what{};
};

options read_options(int count, char** arguments) {
    options out;
    for (int n = 1; n < count; ++n) {
        const std::string_view one = arguments[n];
        if (one == "--whole")
            out.whole = true;
        else if (one == "--caught")
            out.caught = true;
        else if (one == "--plant" && n + 1 < count)
            paddock::test::chosen_plant = arguments[++n];
        else if (one == "--choices" && n + 1 < count)
            out.told = read_choices(arguments[++n]);
        else
            out.what.append(out.what.empty() ? "" : " ").append(one);
    }
    return out;
}

/// Whether no check failed.
template <class Scene>
bool tell(const setup& what, const choices& made) {
    const auto fault = std::make_unique<search<Scene>>(what)->replay(
        made, [](const std::string& line) { std::cout << "  " << line << '\n'; });
    std::cout << (fault.empty() ? "no check failed" : fault) << '\n';
    return fault.empty();
}

template <class Scene>
bool explore(const std::string& words, const setup& what) {
    const auto start = std::chrono::steady_clock::now();
    const auto found = std::make_unique<search<Scene>>(what)->run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << words << ": " << found.states << " states, " << found.runs << " runs, "
              << took.count() << " s" << std::endl;
    if (!found.fault.empty())
        std::cout << found.fault << "\n  --choices " << text(found.made) << ' ' << words << '\n';
    return found.fault.empty();
}

bool explore(const std::string& words, const std::optional<choices>& told = {}) {
    const auto what = read_setup(words);
    const auto one = [&]<class Scene>() {
        return told ? tell<Scene>(what, *told) : explore<Scene>(words, what);
    };
    if (what.kind == "queue") return one.template operator()<queue_scene>();
    if (what.kind == "permits") return one.template operator()<permit_scene>();
    if (what.kind == "simple") return one.template operator()<simple_scene>();
    throw std::runtime_error("there is no kind " + what.kind);
}

bool explore_list(const options& asked) {
    std::vector<std::string_view> all(std::begin(usual), std::end(usual));
    if (asked.whole) all.insert(all.end(), std::begin(slow), std::end(slow));
    return std::all_of(all.begin(), all.end(), [&](std::string_view what) {
        return !what.starts_with(asked.what) || explore(std::string(what));
    });
}

} // namespace

int main(int count, char** arguments) {
    try {
        const auto asked = read_options(count, arguments);
        const bool one = asked.what.find(' ') != std::string::npos;
        const bool well = one ? explore(asked.what, asked.told) : explore_list(asked);
        return well == asked.caught ? 1 : 0;
    } catch (const std::exception& wrong) {
        std::cerr << wrong.what() << '\n';
        return 2;
    }
}
