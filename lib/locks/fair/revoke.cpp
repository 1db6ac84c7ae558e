#include "locks/fair/revoke.hpp"

#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/operations.hpp"
#include "support/argument.hpp"

#include <tuple>
#include <utility>

namespace paddock::detail {

namespace {

/// The full path of a node of this lock; empty if `path` is not one.
std::string node_of(const fair_lock& lock, const std::string& path) {
    auto full = rules::below(lock.client->root(), path);
    const bool here = rules::path_fault(path).empty() && rules::parent(full) == lock.directory &&
                      lock.names.read(rules::name_of(full));
    return here ? full : std::string();
}

/// Sends a request that changes a contender's node; `path` is without the client's root.
template <typename Request>
void change(const fair_lock& lock, handler<void(error_code)> h, const std::string& path,
            Request changes) {
    const auto c = std::make_shared<call<>>(lock.client, std::move(h));
    changes.path = node_of(lock, path);
    if (changes.path.empty())
        return c->refuse(refused_argument("contender", "is not of this lock"));
    const request what = std::move(changes);
    if (const auto problem = fault(*lock.client, what)) return c->refuse(problem);
    c->start(what, [](const native::reply&) { return std::tuple<>(); });
}

} // namespace

void request_revoke(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
                    std::string path) {
    change(*lock, std::move(h), path, requests::set{{}, std::string(rules::revoke_message)});
}

void kick(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h, std::string path) {
    change(*lock, std::move(h), path, requests::remove{});
}

} // namespace paddock::detail
