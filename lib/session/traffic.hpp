#pragma once

#include "observation/observers.hpp"
#include "session/dispatcher.hpp"

#include <paddock/statistics.hpp>

#include <atomic>

namespace paddock::detail {

/// Counts the answers of a client's servers, on their way to the lease.
class traffic final : public answer_observer {
public:
    traffic(observers& outside, answer_observer& next) : observers_(outside), next_(next) {}

    void on_answer(const observed_answer& seen) override;

    void copy_to(server_statistics& out) const; ///< any thread

private:
    static constexpr std::size_t reads = 0, writes = histogram_size;
    using numbers = counts<2 * histogram_size>;

    observers& observers_;
    answer_observer& next_;
    numbers all_;
    std::atomic<boot_clock::rep> last_{0};
};

} // namespace paddock::detail
