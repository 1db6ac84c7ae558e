#pragma once

#include "native/calls.hpp"
#include "rules/claims.hpp"
#include "rules/outcome.hpp"
#include "support/environment.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

class core;

/// The deletes that must happen. They go on until they are answered, or the session is over,
/// whatever becomes of those who wanted them. Only names with a unique id are deleted, so a delete
/// that is repeated, or late, hits nobody else. Strand only.
class sweeper {
public:
    explicit sweeper(core& client) : core_(client) {}

    /// Deletes a node of this session; then its id is released and its bytes given back. Again for
    /// the same path: no second delete.
    /// With the marker of a simple lock goes the lock's node, both or none: that node's name is
    /// used again by others, so it is not deleted in any other way.
    void remove(const std::string& path, rules::node_id id, std::size_t bytes);
    /// The same for a marker whose lock node is gone.
    void remove_alone(const std::string& path, rules::node_id id, std::size_t bytes);

    /// Calls `gone` when the delete of this path is done, or the session is over; at once when
    /// there is none; with errc::outcome_unknown after two session timeouts without a connection.
    void when_deleted(const std::string& path, unique_function<void(error_code)> gone);

    /// A create in this directory was lost, and a server may yet execute it: the directory is
    /// searched for orphans at once, after every later reconnect, and for the last time a minute
    /// after the first search. `bytes` are given back after the next search.
    void taint(const std::string& directory, std::size_t bytes);

    void on_connected();
    void on_suspended();
    void on_session_ended();

private:
    struct removal {
        rules::node_id id;
        std::size_t bytes;
        std::string with{}; ///< the path of a node that goes with it
        bool under_way = false;
        std::optional<boot_clock::time_point> retry{};
        std::vector<unique_function<void(error_code)>> waiting{};
    };
    struct tainted_directory {
        std::size_t bytes = 0;
        bool wanted = false;    ///< a search is under way, or waits for its turn
        bool under_way = false; ///< it is
        bool last = false;      ///< it was sent when the last search was due
        std::optional<boot_clock::time_point> due{}; ///< the last search
        std::optional<boot_clock::time_point> again{};
    };
    using tainted_directories = std::unordered_map<std::string, tainted_directory>;

    void enter(const std::string& path, removal job);
    void send(const std::string& path);
    void answered(const std::string& path, const native::reply& reply);
    void search(const std::string& directory);
    void search_next();
    void search_again(tainted_directory& state, boot_clock::duration after);
    void searched(const std::string& directory, int code, const std::vector<std::string>& names);
    void arm();
    void on_timer();

    core& core_;
    std::unordered_map<std::string, removal> removals_;
    tainted_directories tainted_;
    std::deque<std::string> to_search_; ///< while too many searches are under way
    std::size_t searching_ = 0;
    void give_up_telling();

    std::unique_ptr<timer> timer_;
    std::unique_ptr<timer> silence_; ///< runs while there is no connection
    bool silent_ = false;            ///< it has run out
};

} // namespace paddock::detail
