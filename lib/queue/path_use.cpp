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
    if (const auto other = core_.use<used_paths>().kinds.begin(path, kind))
        return refused_argument("the lock's path",
                                "is that of " + std::string(rules::name_of(*other)) +
                                    " which this client uses: locks of two kinds do not exclude "
                                    "each other");
    path_ = path;
    return {};
}

void path_use::end() {
    if (path_.empty()) return;
    core_.use<used_paths>().kinds.end(path_);
    path_.clear();
}

} // namespace paddock::detail
