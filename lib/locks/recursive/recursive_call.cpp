#include "locks/recursive/recursive_call.hpp"

#include "locks/recursive/recursive_hold.hpp"

#include <utility>

namespace paddock::detail {

recursive_call::recursive_call(std::shared_ptr<recursive_lock> what, owner by,
                               handler<void(error_code, guard)>&& h, kind how, rules::role as)
    : node_call(what->terms->client, std::move(h), how)
    , lock_(std::move(what))
    , owner_(by)
    , as_(as) {}

void recursive_call::join() {
    auto& found = lock_->owners[owner_];
    if (!found) found = std::make_shared<recursive_hold>(lock_, owner_);
    hold_ = found;
    hold_->add(std::static_pointer_cast<recursive_call>(shared_from_this()));
}

void recursive_call::abandoned() {
    if (hold_) hold_->leave(*this);
}

bool recursive_call::admitted_while_draining() const {
    const auto found = lock_->owners.find(owner_);
    return found != lock_->owners.end() && found->second->held();
}

bool recursive_call::known_blocked() const { return hold_ && hold_->known_blocked(); }

} // namespace paddock::detail
