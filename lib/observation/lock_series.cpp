#include "observation/lock_series.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace paddock {

std::uint64_t histogram::count() const noexcept {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

namespace detail {

void lock_series::wait_ends(boot_clock::duration waited, wait_outcome how) noexcept {
    numbers::change now(all_);
    now.subtract(waiters);
    add_time(now, static_cast<std::size_t>(how) * histogram_size, waited);
}

void lock_series::hold_ends(boot_clock::duration held, error_code why) noexcept {
    numbers::change now(all_);
    now.subtract(holds);
    if (why == errc::released) return add_time(now, released, held);
    add_time(now, lost, held);
    const auto known = std::find_if(reasons.begin(), reasons.end() - 1,
                                    [&](const reason& one) { return why == one.why; });
    now.add(losses + static_cast<std::size_t>(std::distance(reasons.begin(), known)));
}

lock_statistics lock_series::copy() const {
    const auto now = all_.copy();
    lock_statistics out;
    out.group = group_;
    out.kind = kind_;
    for (std::size_t how = 0; how < outcomes; ++how)
        out.waited[how] = histogram_at(now, how * histogram_size);
    out.released = histogram_at(now, released);
    out.lost = histogram_at(now, lost);
    for (std::size_t n = 0; n < reasons.size(); ++n)
        out.losses.push_back({reasons[n].why, reasons[n].name, now[losses + n]});
    out.waiters = static_cast<std::size_t>(now[waiters]);
    out.holds = static_cast<std::size_t>(now[holds]);
    return out;
}

} // namespace detail

} // namespace paddock
