#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A case is written in words: `queue XX+X loss quit`. The second word lists the contenders: `+`
// separates two clients, `,` two objects of one client, `!` follows an immediate contender.
//
//   queue    X: of a mutex; W, R: exclusive and shared, of a shared mutex
//   permits  the number that each contender wants, then `/` and the number that exists
//   simple   S: a call of lock()
//
// The other words are troubles, each of which comes at most once, or properties of the world.
namespace paddock::test::explore {

/// One call of lock() or its kin, as the application sees it. Its key is its index.
struct contender {
    enum stage { idle, waiting, held, lost, left, out };
    char as;
    std::size_t client, object;
    bool immediate = false;
    stage at = idle;
};

struct setup {
    std::string kind;
    std::vector<contender> contenders{};
    int permits = 1;

    int losses, expiries, quits, foreigners, writes, kicks, lapses, downgrades, growths;
    bool late;    ///< lost creates may be executed later
    bool lags;    ///< servers learn transactions one by one
    bool empty;   ///< the directory does not exist yet
    bool fail;    ///< waiting contenders fail when the session ends
    bool guard;   ///< holders watch their own nodes
    bool reader;  ///< the foreign node shares the lock
    bool ours;    ///< the foreign node belongs to an own session
    bool counter; ///< a node has the number of permits
    bool narrow;  ///< each client has one create under way at most
};

inline std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        out.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

inline void read_contenders(std::string_view text, setup& out) {
    std::size_t client = 0, object = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '/')
            out.permits = text[++at] - '0';
        else if (text[at] == '!')
            out.contenders.back().immediate = true;
        else if (text[at] == ',' || text[at] == '+')
            ++object, client += text[at] == '+';
        else
            out.contenders.push_back({text[at], client, object});
    }
}

inline setup read_setup(std::string_view text) {
    auto words = split(text);
    const auto given = [&](std::string_view word) { return std::erase(words, word) > 0; };
    setup out{.kind = words.at(0),
              .losses = given("loss"),
              .expiries = given("expiry"),
              .quits = given("quit"),
              .foreigners = given("foreign"),
              .writes = given("write"),
              .kicks = given("kick"),
              .lapses = given("lapse"),
              .downgrades = given("downgrade"),
              .growths = given("growth"),
              .late = given("late"),
              .lags = given("lag"),
              .empty = given("empty"),
              .fail = given("fail"),
              .guard = given("guard"),
              .reader = given("reader"),
              .ours = given("ours"),
              .counter = given("counter"),
              .narrow = given("narrow")};
    read_contenders(words.at(1), out);
    if (words.size() > 2) throw std::runtime_error("there is no word " + words[2]);
    return out;
}

} // namespace paddock::test::explore
