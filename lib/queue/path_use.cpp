#include "queue/path_use.hpp"

#include "support/argument.hpp"

#include <memory>
#include <string>
#include <utility>

namespace paddock::detail {

namespace {

/// One for each client.
class used_paths final : public session_listener {
public:
    explicit used_paths(core&) {} ///< for core::use()

    /// Its users may outlive the client.
    const std::shared_ptr<rules::kinds_in_use> kinds = std::make_shared<rules::kinds_in_use>();
};

} // namespace

path_use::~path_use() {
    if (!kinds_) return;
    end();
    kinds_->forget(at_);
}

error_code path_use::begin(std::string_view path, std::optional<rules::lock_kind> kind) {
    if (begun_ || !kind) return {};
    if (!kinds_) {
        kinds_ = core_.use<used_paths>().kinds;
        at_ = kinds_->know(path);
    }
    const auto other = rules::kinds_in_use::begin(at_, *kind);
    if (other) return refuse(path, *kind, *other);
    begun_ = true;
    return {};
}

error_code path_use::refuse(std::string_view path, rules::lock_kind kind,
                            rules::lock_kind other) const {
    const std::string used_by(rules::name_of(other));
    core_.trouble(log_code::two_kinds_of_lock,
                  "the lock " + std::string(path) + " is " + std::string(rules::name_of(kind)) +
                      ", but this client uses " + used_by +
                      " at the same path, and they would not exclude each other: the call fails. "
                      "Give one of them another path",
                  path);
    return refused_argument("the lock's path",
                            "is that of " + used_by +
                                " which this client uses: locks of two kinds do not exclude each "
                                "other");
}

void path_use::end() {
    if (std::exchange(begun_, false)) rules::kinds_in_use::end(at_);
}

} // namespace paddock::detail
