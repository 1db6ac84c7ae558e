#include "queue/path_use.hpp"

#include "support/argument.hpp"

#include <utility>

namespace paddock::detail {

namespace {

/// One for each client.
class used_paths final : public session_listener {
public:
    explicit used_paths(core&) {} ///< for core::use()

    rules::kinds_in_use kinds;

    void on_connected() override {}
    void on_suspended() override {}
    void on_expired() override {}
    void on_closed(error_code) override {}
};

} // namespace

error_code path_use::begin(std::string_view path, rules::lock_kind kind) {
    if (!path_.empty()) return {};
    std::string own(path);
    const auto other = core_.use<used_paths>().kinds.begin(path, kind);
    if (other) return refuse(path, kind, *other);
    path_ = std::move(own);
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
    if (path_.empty()) return;
    core_.use<used_paths>().kinds.end(path_);
    path_.clear();
}

} // namespace paddock::detail
