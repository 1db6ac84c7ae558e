#pragma once

#include "session/pending_call.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace paddock::detail {

/// All calls that wait for one event, which is told to each of them. On the strand.
template <typename... Result>
class waiting_calls {
public:
    /// Calls that were cancelled meanwhile go, so that many short waits do not add up.
    void add(pending_call_ptr<Result...> call) {
        std::erase_if(all_, [](const auto& one) { return !one->open(); });
        all_.push_back(std::move(call));
    }

    void complete(error_code error, Result... result) {
        for (const auto& one : std::exchange(all_, {}))
            one->complete(error, result...);
    }

private:
    std::vector<pending_call_ptr<Result...>> all_;
};

} // namespace paddock::detail
