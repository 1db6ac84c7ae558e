#pragma once

#include "rules/own_directories.hpp"

#include <optional>
#include <utility>

namespace paddock::rules {

/// What a queue knows of its directory: whether it is being made just now, and whether this client
/// has made it together with a node: see own_directories.
///
/// Invariant: a directory that this client has certainly made is not one that it has perhaps made.
class directory_state {
public:
    /// A contender joins that may make the directory, or not.
    void join(bool may_make) noexcept { keyed_ = keyed_ || may_make; }
    /// Whether it may be made, or deleted, together with a node.
    void free(bool yes) noexcept { free_ = yes; }
    bool can_be_made() const noexcept { return free_ && !own_; }

    /// A create that makes the directory is under way, or not any more.
    void making(bool yes) noexcept { making_ = yes; }
    /// Nothing can be created in it until that has ended.
    bool being_made() const noexcept { return making_; }

    /// The directory was made for the first node in it.
    void made() noexcept {
        own_ = true;
        perhaps_ = false;
    }
    /// The outcome of the create that makes it is unknown.
    void perhaps_made() noexcept { perhaps_ = true; }
    /// Without our node in it, another client may replace the directory.
    void doubt() noexcept {
        if (std::exchange(own_, false)) perhaps_ = true;
    }
    /// It does not exist.
    void missing() noexcept { own_ = false; }
    bool own() const noexcept { return own_; }
    /// Whether the delete of its last node can delete it, too; then it does.
    bool delete_with_last_node() noexcept { return free_ && std::exchange(own_, false); }

    /// Whether it is to be told that other clients use it.
    bool company() noexcept {
        shared_told_ = shared_told_ || keyed_;
        return keyed_;
    }
    /// All contenders have left, or the session has: whether the client has made it, if that is to
    /// be told.
    std::optional<made_here> leave() noexcept {
        const auto by = own_ ? made_here::yes : perhaps_ ? made_here::perhaps : made_here::no;
        const bool tell = keyed_ && (by != made_here::no || !free_ || shared_told_);
        own_ = perhaps_ = shared_told_ = false;
        return tell ? std::optional(by) : std::nullopt;
    }
    /// No contender is left that may make it.
    void forget_keys() noexcept { keyed_ = false; }

private:
    friend struct state_of_rules; ///< of tests that look at every state

    bool free_ = false;
    bool making_ = false;  ///< by a create that is under way
    bool own_ = false;     ///< made by this client, and not deleted
    bool perhaps_ = false; ///< made by a create that was lost
    bool keyed_ = false;   ///< a present contender may make it
    bool shared_told_ = false;
};

} // namespace paddock::rules
