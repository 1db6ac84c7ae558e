#pragma once

#include <paddock/contender.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The data of a contender's node, which identifies the contender: a JSON object in UTF-8 with the
/// members host, pid, label and time (ISO 8601, UTC). kazoo decodes it as text; Curator ignores it.
class metadata {
public:
    explicit metadata(std::string_view label);
    /// The data is exactly this text.
    static metadata verbatim(std::string text);
    std::string at(std::chrono::system_clock::time_point now) const;
    /// With an additional member, id, which makes the data unique.
    std::string at(std::chrono::system_clock::time_point now, std::string_view id) const;

private:
    metadata() = default;

    std::string start_; ///< the object up to the time
    bool verbatim_ = false;
};

/// Fills in the members that the data contains, if paddock wrote it; other data has no effect.
void read_metadata(std::string_view data, contender& out);

} // namespace paddock::detail
