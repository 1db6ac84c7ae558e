#pragma once

#include "rules/line.hpp"
#include "session/core.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

/// One attempt at a lock, as the line sees it. Told of its fate on the strand: failed() or
/// given_up() and nothing more, or granted() and later perhaps lost().
class entrant {
public:
    virtual ~entrant() = default;
    virtual void granted(const std::string& path, std::int64_t czxid) = 0;
    virtual void given_up() = 0;
    virtual void failed(error_code why) = 0;
    virtual void lost(error_code why) = 0;
    virtual void asked_back() {}                                     ///< somebody wants it revoked
    virtual void downgraded(const std::string& path) { (void)path; } ///< to another node
    virtual void moved() {} ///< the line is not what it was
};

/// How an attempt enters.
struct entry_terms {
    rules::terms rules;
    bool fail_over_budget = false;
    bool paid = false; ///< its bytes are reserved already; the line gives them back
    /// The key that it had when its session expired: who comes back is before who came later.
    rules::contender_key again = 0;
    bool persistent_parents = false;
    paddock::acl acl;
    std::string data; ///< of its node
};

/// Carries out what rules::line decides: one queue of nodes, of one client, shared by all its
/// contenders for one lock. Strand only.
class line final : public std::enable_shared_from_this<line> {
public:
    /// `directory` as the ensemble knows it: below the root.
    line(core& client, std::string directory, rules::naming names);

    rules::contender_key enter(std::shared_ptr<entrant> who, entry_terms how);
    void quit(rules::contender_key who);
    void release(rules::contender_key who);
    void downgrade(rules::contender_key who);

    /// Whether somebody of this client holds the lock or waits for it, and would be in the way of
    /// one who wants it so.
    bool occupied(rules::role as) const noexcept;
    /// Whether in this listing somebody else is in the way of one who wants it so.
    bool taken(const std::vector<std::string>& names, rules::role as) const;
    /// What a place takes of the budget of nodes.
    std::size_t place_bytes(const rules::terms& how) const;

    /// As long as somebody observes, every contender hears when something in the line has moved.
    void observe(bool begin) { observers_ += begin ? 1 : -1; }
    /// As long as somebody wants it, the first in the line is watched, too.
    void watch_first(bool begin);
    /// How many are in its way; nothing as long as its place is not known.
    std::optional<std::size_t> ahead_of(rules::contender_key who) const {
        return rules_.ahead_of(who);
    }
    /// Of the contender's node; empty if there is none.
    std::string path_of(rules::contender_key who) const;
    const std::string& directory() const noexcept { return directory_; }
    const rules::naming& names() const noexcept { return names_; }

    void on_connected();
    void on_suspended();
    void on_expired();
    void on_closed(error_code why);

private:
    struct seat {
        std::shared_ptr<entrant> who;
        entry_terms how;
        std::size_t reserved = 0; ///< of the budget of nodes
        budget::turn waiting = 0; ///< for the budget
        bool left = false;        ///< nobody waits for the outcome any more
        bool lost_create = false; ///< a node of it may exist that nobody knows
        bool granted = false;
    };

    /// Where everything that happens is told.
    rules::line& facts();
    void join(rules::contender_key who);
    void carry_out();
    void carry_out(const rules::act::create& a);
    void carry_out(const rules::act::list& a);
    void carry_out(const rules::act::make_parents& a);
    void carry_out(const rules::act::watch_blocker& a);
    void carry_out(const rules::act::watch_own& a);
    void carry_out(const rules::act::forget& a);
    void carry_out(const rules::act::sweep& a);
    void carry_out(const rules::act::downgrade& a);
    void carry_out(const rules::act::taint& a);
    void carry_out(const rules::act::pause& a);
    void carry_out(const rules::act::await_lease& a);
    void carry_out(const rules::act::warn& a);
    void carry_out(const rules::act::grant& a);
    void carry_out(const rules::act::give_up& a);
    void carry_out(const rules::act::fail& a);
    void carry_out(const rules::act::ask_back& a);
    void carry_out(const rules::act::lose& a);
    void carry_out(const rules::act::downgraded& a);
    void carry_out(const rules::act::out& a);

    std::string path_of(std::string_view name) const;
    std::optional<watch_table::waiter> set_watch(const std::string& name);
    void forget_watch(const std::string& name, bool armed);
    struct look_result {
        rules::outcome result;
        std::int64_t czxid = 0;
        bool watched = false;
        bool asked_back = false;
    };
    using looked = unique_function<void(const look_result&)>;
    void look(const std::string& name, bool by_exists, looked done);
    void look_answered(const std::string& name, bool by_exists,
                       std::optional<watch_table::waiter> waiter, const native::reply& reply,
                       looked done);
    void hear(const std::string& name, bool deleted);
    void grown_old(rules::contender_key who);
    void tell_moves();

    core& core_;
    std::string directory_;
    rules::naming names_;
    rules::line rules_;
    std::map<rules::contender_key, seat> seats_;
    rules::contender_key last_ = 0;
    std::unordered_map<std::string, watch_table::waiter> watches_; ///< by node name
    bool persistent_parents_ = false;
    bool carrying_out_ = false;
    bool closed_ = false;
    std::unique_ptr<timer> pause_;
    int observers_ = 0;
    int watching_first_ = 0;
};

} // namespace paddock::detail
