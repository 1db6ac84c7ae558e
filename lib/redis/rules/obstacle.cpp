#include "redis/rules/obstacle.hpp"

#include "support/log.hpp"

#include <algorithm>

namespace paddock::redis::rules {

namespace {

using kind = answer::kind;

/// The obstacle that the server's answer stands for.
obstacle meaning_of(const std::optional<answer>& refusal) noexcept {
    if (!refusal) return obstacle::servers;
    switch (refusal->what) {
    case kind::taken:
    case kind::young: // a client may have a lock of which the server does not know any more
        return obstacle::taken;
    case kind::mismatch:
        return obstacle::mismatch;
    case kind::denied:
        return obstacle::denied;
    case kind::spoilt:
    case kind::replica:
        return obstacle::unsuitable;
    default:
        return obstacle::servers;
    }
}

} // namespace

obstacle obstacle_in(const std::vector<std::optional<answer>>& refusals) {
    std::vector<obstacle> all;
    all.reserve(refusals.size());
    for (const auto& one : refusals)
        all.push_back(meaning_of(one));
    const auto quorum = static_cast<std::ptrdiff_t>(all.size() / 2 + 1);
    const auto healthy = std::count_if(all.begin(), all.end(), heals);
    if (healthy < quorum) return *std::find_if_not(all.begin(), all.end(), heals);
    return std::count(all.begin(), all.end(), obstacle::taken) > 0 ? obstacle::taken
                                                                   : obstacle::servers;
}

std::string complaint_about(const answer& said, const deployment& ours) {
    switch (said.what) {
    case kind::refused:
    case kind::denied:
    case kind::spoilt:
        return "refuses a request: " + said.text;
    case kind::mismatch:
        return "is used by clients with other options (" + said.text +
               "; this client has max_ttl " + std::to_string(ours.max_ttl.count()) +
               " ms, servers " + std::to_string(ours.servers) +
               "): all clients of a server must agree (client_options::max_ttl says how to change "
               "it)";
    case kind::young:
        return "is new, or may have lost its data: for safety it grants no lock for another " +
               in_words(said.left) + " (client_options::max_ttl). Nothing to do but wait; " +
               (ours.trusts_new_servers ? "for trust_new_servers another client was here too early"
                                        : "trust_new_servers says how a new server needs none");
    case kind::replica:
        return "is no master";
    case kind::released:
    case kind::gone:
        if (said.text.empty()) return {};
        return "does not tell the clients that wait of a release: " + said.text;
    default:
        return {};
    }
}

} // namespace paddock::redis::rules
