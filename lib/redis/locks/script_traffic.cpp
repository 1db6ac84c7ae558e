#include "redis/locks/script_traffic.hpp"

#include "redis/locks/error_of.hpp"

#include <string_view>

namespace paddock::redis::detail {

using namespace paddock::detail;

namespace {

std::string_view name_of(rules::script which) noexcept {
    switch (which) {
    case rules::script::acquire:
        return "acquire";
    case rules::script::renew:
        return "renew";
    default:
        return "release";
    }
}

} // namespace

void script_traffic::answered(rules::script which, const std::optional<rules::answer>& said,
                              boot_clock::duration took) {
    --in_flight_;
    if (!said) return;
    last_.store(took.count(), std::memory_order_relaxed);
    {
        numbers::change now(times_);
        add_time(now, 0, took);
    }
    if (!observers_.wants_requests()) return;
    observers_.tell([&](observer& by) { by.on_request(name_of(which), took, error_of(*said)); });
}

void script_traffic::copy_to(server_statistics& out) const {
    out.writes = histogram_at(times_.copy(), 0);
    out.requests_in_flight = in_flight_;
    out.last_round_trip = boot_clock::duration(last_.load(std::memory_order_relaxed));
}

} // namespace paddock::redis::detail
