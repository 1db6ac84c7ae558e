#pragma once

#include "line/line.hpp"
#include "session/core.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

/// The lines of one client: one for each lock that somebody has a use for. Strand only.
class line_table final : public session_listener {
public:
    static line_table& of(core& client);

    std::shared_ptr<line> find(const std::string& directory, const rules::naming& names);

    void on_connected() override;
    void on_suspended() override;
    void on_expired() override;
    void on_closed(error_code why) override;

private:
    explicit line_table(core& client) : core_(client) {}
    std::vector<std::shared_ptr<line>> living();

    core& core_;
    std::map<std::pair<std::string, std::string>, std::weak_ptr<line>> lines_;
    std::size_t tidy_at_ = 64;
};

} // namespace paddock::detail
