#pragma once

#include "locks/sticky/sticky_line.hpp"
#include "session/core.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

/// The sticky locks of one client that have waiters, or a node. Strand only.
class sticky_lines final : public session_listener {
public:
    explicit sticky_lines(core& client); ///< for core::use()

    /// The line of the calls of that lock; null without a call in it and without a node.
    std::shared_ptr<sticky_line> find(const std::shared_ptr<const fair_lock>& lock) const;
    /// The same, but makes it. For a call that joins now.
    std::shared_ptr<sticky_line> get(const std::shared_ptr<const fair_lock>& lock);
    /// The line is of no use any more.
    void forget(const sticky_line& line);
    /// Locks in that directory that only linger are given up, but for that line.
    void end_lingering(const std::string& directory, const std::shared_ptr<sticky_line>& but);

    void on_connected() override;
    void on_suspended() override;
    void on_expired() override;
    void on_closed(error_code why) override;

private:
    std::vector<std::shared_ptr<sticky_line>> all() const;

    std::unordered_multimap<std::string, std::shared_ptr<sticky_line>> lines_; ///< by directory
};

} // namespace paddock::detail
