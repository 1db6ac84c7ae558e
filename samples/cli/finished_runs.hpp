// The finished runs of a job, as the ensemble has them.
#pragma once

#include "once_record.hpp"

#include <paddock/client.hpp>
#include <paddock/guard.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

namespace asio = boost::asio;

struct recorded_run {
    std::string name{}; ///< of its node
    std::int64_t finished = 0;
    finished_run of{};
};

class finished_runs {
public:
    finished_runs(paddock::client& zk, const std::string& path)
        : zk_(zk), folder_(path + "-done") {}

    /// The ensemble's time. Makes the directory.
    asio::awaitable<std::int64_t> now();

    asio::awaitable<std::optional<recorded_run>> last(const occasion& when);
    /// The last run for a period, and for each key.
    asio::awaitable<std::vector<recorded_run>> all();

    /// Records a run, in a transaction that checks the lock; so only one can ever be recorded. At
    /// most `keep` keys are remembered.
    asio::awaitable<void> add(const paddock::guard& lock, const occasion& when,
                              const finished_run& run, std::size_t keep);
    /// These, and earlier ones for the same occasions.
    asio::awaitable<void> forget(const std::vector<recorded_run>& runs);

private:
    asio::awaitable<std::vector<std::string>> names();
    /// The last one of those that begin so, for each occasion.
    asio::awaitable<std::vector<recorded_run>> last_of_each(std::string beginning);

    paddock::client& zk_;
    const std::string folder_;
};

} // namespace cli
