#pragma once

#include "rules/outcome.hpp"
#include "unit/explore/shape.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The requests of clients, and the answers and events of the ensemble.
namespace paddock::test::explore {

using rules::outcome;

/// A check has failed.
struct violation : std::runtime_error {
    using runtime_error::runtime_error;
};

inline void must(bool condition, const char* fault, const std::string& about = {}) {
    if (!condition) throw violation(about.empty() ? fault : fault + (": " + about));
}

/// Passes each step on as a line of text when a run is replayed.
struct story {
    std::function<void(const std::string&)> told{};

    template <class... Parts>
    void operator()(const Parts&... parts) const {
        if (!told) return;
        std::string line;
        ((line += word(parts) + ' '), ...);
        told(line);
    }

private:
    static std::string word(std::string_view text) { return std::string(text); }
    static std::string word(std::uint64_t number) { return std::to_string(number); }
};

struct request {
    enum kind { create, list, get, remove, make, unwatch, swap, exists, create_both, remove_both };
    kind what;
    std::string name{};  ///< of a create: without its sequence number
    std::string other{}; ///< of a swap: the deleted node; of both: the second
    bool settle = false; ///< of a list: behind a barrier
    bool watch = false;
    // By these the client finds the receiver of the answer.
    std::uint64_t key = 0, id = 0, number = 0;
    std::uint64_t waiter = 0, ticket = 0; ///< for the event
};

struct reply {
    enum kind { answer, deleted, changed, child };
    kind what = answer;
    request to{}; ///< of an event: its name
    outcome result = outcome::done;
    int code = 0;
    std::string name{}; ///< of the created, or missing, node
    std::int64_t czxid = 0, zxid = 0;
    std::vector<std::string> children{};
    std::string data{};
    std::int64_t owner = 0;
    std::int32_t value = 0; ///< of the counter
};

/// Names outside the directory: the directory itself, for watches on its children, and the node
/// with the number of permits.
inline const std::string the_directory = ".";
inline const std::string the_counter = "#";

struct session {
    std::int64_t id = 0; ///< 0: none
    bool connected = false;
    std::int64_t seen = 0;    ///< zxid of the last answer: a server that is behind is refused
    std::int64_t heard = 0;   ///< zxid of the last answer or event
    std::int64_t applied = 0; ///< zxid of the last transaction that its server knows
    std::set<std::string> watches{}; ///< of this connection, on the server
    std::vector<request> to_server{};
    std::vector<reply> to_client{};

    bool quiet() const { return to_server.empty() && to_client.empty(); }
};

inline void see(const request& r, std::uint64_t client, shape& out) {
    out.add(r.what, r.settle, r.watch, r.key, r.waiter);
    out.put(shape::node, r.id);
    out.put(shape::look, r.number, r.waiter);
    out.put(shape::ticket, r.ticket, client);
    out.name(r.name);
    out.name(r.other);
}

inline void see(const reply& r, std::uint64_t client, shape& out) {
    out.add(r.what, r.result, r.code, r.owner, r.value, r.children.size());
    see(r.to, client, out);
    out.name(r.name);
    out.name(r.data);
    out.put(shape::zxid, r.czxid);
    for (const auto& one : r.children)
        out.name(one);
}

} // namespace paddock::test::explore
