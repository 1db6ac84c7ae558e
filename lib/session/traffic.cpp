#include "session/traffic.hpp"

#include "rules/outcome.hpp"
#include "session/call.hpp"

namespace paddock::detail {

/// A request whose connection is lost has no answer, and took no time.
void traffic::on_answer(const observed_answer& seen) {
    if (rules::agreed(seen.code)) {
        const auto took = seen.answered - seen.sent;
        last_.store(took.count(), std::memory_order_relaxed);
        {
            numbers::change now(all_);
            add_time(now, seen.by == answered_by::quorum ? writes : reads, took);
        }
        if (observers_.wants_requests())
            observers_.tell([&](observer& by) {
                by.on_request(seen.operation, took, zookeeper_error(seen.code));
            });
    }
    next_.on_answer(seen);
}

void traffic::copy_to(server_statistics& out) const {
    const auto now = all_.copy();
    out.reads = histogram_at(now, reads);
    out.writes = histogram_at(now, writes);
    out.last_round_trip = boot_clock::duration(last_.load(std::memory_order_relaxed));
}

} // namespace paddock::detail
