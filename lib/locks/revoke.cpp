#include "locks/revoke.hpp"

#include "rules/paths.hpp"
#include "session/call.hpp"

#include <tuple>
#include <utility>

namespace paddock::detail {

namespace {

/// The node as the ensemble knows it; empty if it is none of this lock.
std::string node_of(const line_lock& lock, const std::string& path) {
    auto full = rules::below(lock.client->root(), path);
    const bool here = rules::path_fault(path).empty() && rules::parent(full) == lock.directory &&
                      lock.names.read(rules::name_of(full));
    return here ? full : std::string();
}

template <typename Make>
void change(const line_lock& lock, handler<void(error_code)> h, const std::string& path,
            Make make) {
    const auto c = std::make_shared<call<>>(lock.client, std::move(h));
    auto node = node_of(lock, path);
    if (node.empty()) return c->refuse(errc::bad_argument);
    c->asks(answered_by::quorum);
    c->launch(
        [node = std::move(node), make](native::calls& table,
                                       std::unique_ptr<native::completion> done) {
            return make(table, node, std::move(done));
        },
        [](const native::reply&) { return std::tuple<>(); });
}

} // namespace

void ask_back(std::shared_ptr<const line_lock> lock, handler<void(error_code)> h,
              std::string path) {
    change(*lock, std::move(h), path,
           [](native::calls& table, const std::string& node,
              std::unique_ptr<native::completion> done) {
               return table.set(node, rules::revoke_message, any_version, std::move(done));
           });
}

void kick(std::shared_ptr<const line_lock> lock, handler<void(error_code)> h, std::string path) {
    change(*lock, std::move(h), path,
           [](native::calls& table, const std::string& node,
              std::unique_ptr<native::completion> done) {
               return table.remove(node, any_version, std::move(done));
           });
}

} // namespace paddock::detail
