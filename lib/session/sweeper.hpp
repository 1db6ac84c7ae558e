#pragma once

#include "client/trouble_log.hpp"
#include "native/calls.hpp"
#include "rules/claims.hpp"
#include "rules/outcome.hpp"
#include "session/dispatcher.hpp"
#include "session/own_directories.hpp"
#include "support/budget.hpp"
#include "support/environment.hpp"
#include "support/gauge.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

/// Deletes nodes that must not stay, and searches for orphans. It repeats each delete until a
/// server answers it, or the session ends; the call or guard that asked for it may be gone by then.
/// It only deletes nodes with a unique id in their names, so a delete that is repeated, or late,
/// never hits another node. Strand only.
class sweeper {
public:
    sweeper(environment& env, dispatcher& requests, rules::claims& ids, budget& nodes,
            own_directories& directories, trouble_log& log)
        : env_(env)
        , dispatcher_(requests)
        , claims_(ids)
        , nodes_(nodes)
        , directories_(directories)
        , log_(log) {}

    /// Deletes a node of this session, then releases its id and its bytes of the node budget. A
    /// second call for the same path sends no second delete. With the marker of a simple lock it
    /// deletes the lock's node in one multi: other clients use that node's name again, so it is
    /// never deleted alone. A node that is not known to exist is not deleted together with others.
    /// `keyed`: close() may have to delete the node's directory behind it.
    void remove(const std::string& path, rules::node_id id, std::size_t bytes, bool exists = true,
                bool keyed = false);
    /// The same for the last node in its own directory, which the same multi deletes. If that is
    /// refused, the directory stays for a later visit.
    void remove_with_directory(const std::string& path, rules::node_id id, std::size_t bytes);
    /// The same for a marker whose lock node is already deleted.
    void remove_alone(const std::string& path, rules::node_id id, std::size_t bytes);
    /// The same for a node that a listing shows, and nobody knows of.
    void remove_orphan(const std::string& path, rules::node_id id);

    /// Calls `gone` when the delete of this path is done, or the session has expired; at once if no
    /// delete is pending; with the reason when the client closes; with errc::node_deleted if
    /// another client was first; with errc::outcome_unknown after two session timeouts without
    /// connection; with zk_errc::no_auth once the ensemble has refused the delete, which goes on.
    void when_deleted(const std::string& path, unique_function<void(error_code)> gone);

    /// A create in this directory was lost, and a server may still execute it. The sweeper searches
    /// the directory for orphans at once, after every reconnect, and for the last time a minute
    /// after the first search. It releases `bytes` after the next search.
    void taint(const std::string& directory, std::size_t bytes);

    void on_connected(boot_clock::duration session_timeout);
    void on_suspended();
    /// The session has expired, and its nodes are deleted; or, with a reason, the client closes.
    void on_session_ended(error_code why = {});
    /// The deletes of keyed nodes that are not answered, those with directories last.
    std::vector<request> unanswered_keyed() const;

    // Any thread.
    std::size_t deletes_pending() const noexcept { return pending_; }
    std::size_t orphans() const noexcept { return orphans_; } ///< so far

private:
    struct removal {
        rules::node_id id;
        std::size_t bytes;
        std::string with{}; ///< the path of a node that the same multi deletes
        bool exists = true; ///< as far as was known at first
        bool keyed = false;
        bool with_directory = false;
        bool under_way = false;
        bool repeated = false;    ///< an answer was lost
        bool gone_before = false; ///< another client has deleted a node
        int refusals = 0;         ///< for lack of the right
        std::optional<boot_clock::time_point> retry{};
        std::vector<unique_function<void(error_code)>> waiting{};
    };
    struct tainted_directory {
        std::size_t bytes = 0;
        bool wanted = false;    ///< a search is under way, or waits for its turn
        bool under_way = false; ///< a search is under way
        bool last = false;      ///< that search is the last one
        std::optional<boot_clock::time_point> due{}; ///< the time of the last search
        std::optional<boot_clock::time_point> again{};
    };
    using tainted_directories = std::unordered_map<std::string, tainted_directory>;

    void add(const std::string& path, removal job);
    void send(const std::string& path);
    void answered(const std::string& path, const native::reply& reply);
    void found_missing(const std::string& path, removal& job);
    bool deletes_less(const std::string& path, removal& job, const native::reply& reply,
                      rules::outcome result);
    void deleted(const std::string& path);
    void refused(const std::string& path);
    void leave_directory(const std::string& path, int code);
    void search(const std::string& directory);
    void search_next();
    void search_again(tainted_directory& state, boot_clock::duration after);
    void searched(const std::string& directory, int code, const std::vector<std::string>& names);
    void arm();
    void on_timer();
    void answer_waiting();

    environment& env_;
    dispatcher& dispatcher_;
    rules::claims& claims_;
    budget& nodes_;
    own_directories& directories_;
    trouble_log& log_;
    bool connected_ = false;
    boot_clock::duration session_timeout_{};
    std::unordered_map<std::string, removal> removals_;
    gauge pending_, orphans_;
    tainted_directories tainted_;
    std::deque<std::string> to_search_; ///< directories whose search waits for its turn
    std::size_t searching_ = 0;
    std::unique_ptr<timer> timer_;
    std::unique_ptr<timer> silence_; ///< runs while there is no connection
    bool silent_ = false;            ///< that timer has fired
};

} // namespace paddock::detail
