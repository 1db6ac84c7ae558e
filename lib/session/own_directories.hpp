#pragma once

#include "native/calls.hpp"
#include "rules/own_directories.hpp"
#include "session/dispatcher.hpp"
#include "support/environment.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// The directories that locks make together with their nodes: see rules::own_directories. Visits
/// those that were left behind, and deletes the empty ones. Strand only.
class own_directories {
public:
    own_directories(environment& env, dispatcher& requests) : env_(env), dispatcher_(requests) {}

    bool free(std::string_view directory) const { return rules_.free(directory); }
    /// The ensemble has refused to make or delete the directory together with a node.
    void refused(std::string_view directory, int code);
    void shared(std::string_view directory) { rules_.shared(directory, env_.now()); }
    bool made_by_locks(std::string_view directory) const { return rules_.made_by_locks(directory); }
    void left(std::string_view directory, rules::made_here made);
    /// Reads the directory's data unless it is known whose it is, so that close() knows whether a
    /// lock has made it. Others may have deleted it before that: then the next call reads again.
    void recognise(std::string_view directory);

    void on_connected();
    void on_suspended() { connected_ = false; }
    void on_session_ended();
    /// Returns the deletes that should be sent before the session ends.
    std::vector<request> close();

private:
    void arm();
    void visit_due();
    void visit(const std::string& directory);
    void seen(const std::string& directory, const native::reply& reply);
    void visited(const std::string& directory, rules::own_directories::found what);

    environment& env_;
    dispatcher& dispatcher_;
    rules::own_directories rules_;
    bool connected_ = false;
    std::size_t under_way_ = 0; ///< visits
    std::unique_ptr<timer> timer_;
};

} // namespace paddock::detail
