#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace paddock::rules {

/// The number of a lock node within its session. With the session's id it makes the unique id in
/// the node's name.
using node_id = std::uint64_t;

/// The ids in the names of one session's nodes, for all kinds of locks. An id is claimed from
/// before its create is sent until its delete is confirmed; a node of this session with an
/// unclaimed id is an orphan. In text an id has 36 characters in the shape of Curator's: 16 hex
/// digits of the session id, then 16 of the number. So an administrator can read the owner from it,
/// and no two processes can generate the same id.
class claims {
public:
    /// Begins a new session without claims. The numbers go on.
    void begin(std::int64_t session);

    std::int64_t session() const noexcept { return session_; }

    node_id claim() {
        claimed_.insert(++last_);
        return last_;
    }
    void release(node_id id) noexcept { claimed_.erase(id); }
    bool claimed(node_id id) const noexcept { return claimed_.contains(id); }
    std::size_t count() const noexcept { return claimed_.size(); }

    /// The 36 characters of an id of the present session.
    std::string text(node_id id) const;
    /// The same without its dashes: 32 hex digits, as in kazoo's names.
    std::string digits(node_id id) const;

    /// The number of an id in either form, if the present session may have claimed it.
    std::optional<node_id> parse(std::string_view text) const noexcept;

private:
    friend struct state_of_rules; ///< of tests that look at every state
    std::int64_t session_ = 0;
    std::string session_text_;   ///< the session's part of text()
    std::string session_digits_; ///< the session's part of digits()
    node_id last_ = 0;
    std::unordered_set<node_id> claimed_;
};

} // namespace paddock::rules
