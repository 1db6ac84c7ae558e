#pragma once

#include "support/process_name.hpp"

#include <paddock/contender.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace paddock::detail {

/// The data of a contender's node, which identifies the contender: a JSON object in UTF-8 with the
/// members host, pid, label and time (ISO 8601, UTC). kazoo decodes it as text; Curator ignores it.
class metadata {
public:
    /// `sticky`: says so, because the node may stay although its lock is free.
    metadata(const process_name& of, std::string_view label, bool sticky = false);
    /// The data is exactly this text.
    static metadata verbatim(std::string text);
    std::string at(std::chrono::system_clock::time_point now) const;
    /// With an additional member, id, which makes the data unique.
    std::string at(std::chrono::system_clock::time_point now, std::string_view id) const;

    friend bool operator==(const metadata&, const metadata&) = default;

private:
    metadata() = default;

    std::string start_; ///< the object up to the time
    bool verbatim_ = false;
};

/// Fills in the members that the data contains, if paddock wrote it; other data has no effect.
void read_metadata(std::string_view data, contender& out);

/// Whether it is the data of a sticky lock's node.
bool says_sticky(std::string_view data);

} // namespace paddock::detail
