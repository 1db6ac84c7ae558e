#pragma once

#include "locks/fair/fair_lock.hpp"

#include <paddock/contender.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::detail {

/// Where to look for contenders.
struct survey_area {
    std::shared_ptr<core> client;
    std::string directory;
    rules::naming names;
    bool everybody = false; ///< nodes with other names count, too
};

/// Lists a directory and reads every contender's node, all reads in one flight. On the strand.
void survey(survey_area where, unique_function<void(error_code, std::vector<contender>)> done);

/// The contenders of a lock; any thread.
void find_contenders(std::shared_ptr<const fair_lock> of,
                     handler<void(error_code, std::vector<contender>)> h);
/// The same, and says only who holds the lock; of several that share it, the first.
void find_holder(std::shared_ptr<const fair_lock> of,
                 handler<void(error_code, std::optional<contender>)> h);

} // namespace paddock::detail
