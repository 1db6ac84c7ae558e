#pragma once

#include "client/hold.hpp"
#include "session/core.hpp"
#include "session/lease.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::detail {

/// A hold that nodes of ZooKeeper make: a contender's node, a set of permits, a simple lock's node.
/// It lasts as long as the session's lease.
class node_hold final : public hold, private lease_user {
public:
    node_hold(std::shared_ptr<core> client, std::shared_ptr<held_resource> resource,
              std::shared_ptr<const counted_lock> counted, std::string full_path,
              std::size_t lock_size, const fencing_token& token, bool can_downgrade = false);

    // Any thread.
    std::string_view path() const noexcept override;
    std::string_view lock_path() const noexcept override {
        return std::string_view(full_path_).substr(0, lock_size_);
    }
    const std::string& full_path() const noexcept {
        return is_shared() ? shared_path_ : full_path_;
    }
    /// Adds another node that must exist for the hold. Only before other threads can use the hold.
    void add_node(std::string full_path) { more_nodes_.push_back(std::move(full_path)); }
    void start_verify(handler<void(error_code)> h) override;
    void start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                           std::vector<operation> steps) override;
    bool has_transactions() const noexcept override { return true; }

    // Strand only.
    /// The hold shares the lock from now on, with this node.
    void downgraded(const std::string& full_path);
    /// Whether its nodes may belong to the next hold: it was valid until its release, and none of
    /// its transactions can be executed later.
    bool passable() const noexcept { return reason() == errc::released && unsettled_ == 0; }

private:
    void on_lapse() override { end(errc::lease_lapsed); }
    void on_end() override;
    /// The first steps of a multi that must execute only under this hold.
    std::vector<operation> checks() const;
    std::shared_ptr<node_hold> self() {
        return std::static_pointer_cast<node_hold>(shared_from_this());
    }

    std::shared_ptr<core> core_;
    std::string full_path_;
    std::size_t lock_size_;   ///< of the lock's own path, with which the node's begins
    std::string shared_path_; ///< after a downgrade
    std::vector<std::string> more_nodes_;
    int unsettled_ = 0; ///< transactions whose outcome is not known
};

} // namespace paddock::detail
