#pragma once

#include "client/pending_call.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace paddock::detail {

/// The calls that wait for one event, which completes them all. Strand only.
template <typename... Result>
class waiting_calls {
public:
    /// Removes calls that were cancelled meanwhile, so that many short waits do not add up.
    void add(client_call_ptr<Result...> call) {
        std::erase_if(calls_, [](const auto& one) { return !one->open(); });
        calls_.push_back(std::move(call));
    }

    void complete(error_code error, Result... result) {
        for (const auto& one : std::exchange(calls_, {}))
            one->complete(error, result...);
    }

private:
    std::vector<client_call_ptr<Result...>> calls_;
};

} // namespace paddock::detail
