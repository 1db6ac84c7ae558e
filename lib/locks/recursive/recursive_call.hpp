#pragma once

#include "locks/call/node_call.hpp"
#include "locks/fair/fair_lock.hpp"

#include <paddock/recursive_mutex.hpp>

#include <map>
#include <memory>
#include <string_view>

namespace paddock::detail {

class recursive_hold;

/// The state that a recursive_mutex, or a recursive_shared_mutex, and its copies share.
struct recursive_lock {
    std::shared_ptr<const fair_lock> terms;
    /// The owners that hold the lock or wait for it. Strand only.
    std::map<owner, std::shared_ptr<recursive_hold>> owners{};
};

/// One call of such a mutex.
class recursive_call final : public node_call<guard> {
public:
    recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                   handler<void(error_code, guard)>&& h, kind how,
                   rules::role as = rules::role::exclusive);

    rules::role as() const noexcept { return as_; }

private:
    void join() override;
    void abandoned() override;
    bool known_blocked() const override;
    bool admitted_while_draining() const override;
    std::string_view lock_path() const override { return lock_->terms->directory; }
    const counted_lock* counted() const noexcept override { return lock_->terms->counted.get(); }

    std::shared_ptr<recursive_lock> lock_;
    owner owner_;
    rules::role as_;
    std::shared_ptr<recursive_hold> hold_;
};

} // namespace paddock::detail
