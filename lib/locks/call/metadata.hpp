#pragma once

#include <paddock/contender.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace paddock::detail {

/// What a contender writes into its node: who it is, as a JSON object in UTF-8 with the members
/// host, pid, label and time (ISO 8601, UTC). kazoo decodes it as text; Curator does not look.
class metadata {
public:
    explicit metadata(std::string_view label);
    /// Another kind of data: this text, always.
    static metadata verbatim(std::string text);
    std::string at(std::chrono::system_clock::time_point now) const;
    /// With one more member, id, which makes it unique.
    std::string at(std::chrono::system_clock::time_point now, std::string_view id) const;

private:
    metadata() = default;

    std::string start_; ///< everything but the time
    bool verbatim_ = false;
};

/// Fills in what the data says, if a paddock program wrote it; any other data changes nothing.
void read_metadata(std::string_view data, contender& out);

} // namespace paddock::detail
