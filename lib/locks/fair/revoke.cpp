#include "locks/fair/revoke.hpp"

#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/operations.hpp"
#include "support/argument.hpp"

#include <tuple>
#include <utility>

namespace paddock::detail {

namespace {

/// Sends a request that changes a contender's node.
void change(std::shared_ptr<core> client, handler<void(error_code)> h, const std::string& full_path,
            const request& changes) {
    const auto c = std::make_shared<call<>>(client, std::move(h));
    if (full_path.empty()) return c->refuse(refused_argument("contender", "is not of this lock"));
    if (const auto problem = fault(*client, changes)) return c->refuse(problem);
    c->start(changes, [](const native::reply&) { return std::tuple<>(); });
}

} // namespace

std::string node_in(const contender_query& query, const std::string& path) {
    auto full = rules::below(query.client->root(), path);
    const bool here = rules::path_fault(path).empty() && rules::parent(full) == query.directory &&
                      (query.all_nodes || query.names.read(rules::name_of(full)));
    return here ? full : std::string();
}

void revoke_node(std::shared_ptr<core> client, handler<void(error_code)> h, std::string full_path) {
    const request sets = requests::set{full_path, std::string(rules::revoke_message)};
    change(std::move(client), std::move(h), full_path, sets);
}

void kick_node(std::shared_ptr<core> client, handler<void(error_code)> h, std::string full_path) {
    const request removes = requests::remove{full_path};
    change(std::move(client), std::move(h), full_path, removes);
}

void request_revoke(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
                    const std::string& path) {
    revoke_node(lock->client, std::move(h), node_in(query_of(*lock), path));
}

void kick(std::shared_ptr<const fair_lock> lock, handler<void(error_code)> h,
          const std::string& path) {
    kick_node(lock->client, std::move(h), node_in(query_of(*lock), path));
}

} // namespace paddock::detail
