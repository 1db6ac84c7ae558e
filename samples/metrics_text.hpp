// The statistics of a client as text for Prometheus. https://prometheus.io/docs/instrumenting/
#pragma once

#include <paddock/error.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace metrics {

/// The value of a label: a path, a group or an error's text may have any character.
inline std::string value_of(std::string_view text) {
    std::string out = "\"";
    for (const char c : text)
        out += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    return out + '"';
}

inline std::string labels(const paddock::lock_statistics& one) {
    return "lock=" + value_of(one.group) + ",kind=" + value_of(name_of(one.kind));
}

inline void write(std::ostream& to, const std::string& name, const std::string& labels,
                  const paddock::histogram& times) {
    using seconds = std::chrono::duration<double>;
    std::uint64_t so_far = 0;
    for (std::size_t n = 0; n < times.counts.size(); ++n) {
        to << name << "_bucket{" << labels << (labels.empty() ? "" : ",") << "le=\"";
        n < times.bounds.size() ? to << seconds(times.bounds[n]).count() : to << "+Inf";
        to << "\"} " << (so_far += times.counts[n]) << '\n';
    }
    to << name << "_sum{" << labels << "} " << seconds(times.sum).count() << '\n'
       << name << "_count{" << labels << "} " << so_far << '\n';
}

inline void write_metrics(std::ostream& to, const paddock::client_statistics& all) {
    using paddock::wait_outcome;
    to.precision(15); // sums grow, and are to move by milliseconds
    to << "# TYPE paddock_lock_wait_seconds histogram\n";
    for (const auto& one : all.locks)
        for (const auto how : {wait_outcome::granted, wait_outcome::busy, wait_outcome::timeout,
                               wait_outcome::cancelled, wait_outcome::error})
            write(to, "paddock_lock_wait_seconds",
                  labels(one) + ",outcome=" + value_of(name_of(how)), one.waited_until(how));
    to << "# TYPE paddock_locks_held gauge\n";
    for (const auto& one : all.locks)
        to << "paddock_locks_held{" << labels(one) << "} " << one.holds << '\n';
    to << "# TYPE paddock_leader gauge\n";
    for (const auto& one : all.locks)
        if (one.kind == paddock::lock_kind::election)
            to << "paddock_leader{lock=" << value_of(one.group) << "} " << one.holds << '\n';
    to << "# TYPE paddock_lock_lost_total counter\n";
    for (const auto& one : all.locks)
        for (const auto& loss : one.losses)
            to << "paddock_lock_lost_total{" << labels(one) << ",reason=" << value_of(loss.name)
               << "} " << loss.count << '\n';
    to << "# TYPE paddock_loop_delay_seconds histogram\n";
    write(to, "paddock_loop_delay_seconds", "", all.loop_delay);
    to << "# TYPE paddock_lease_remaining_seconds gauge\npaddock_lease_remaining_seconds "
       << std::chrono::duration<double>(all.lease_remaining).count() << '\n';
}

} // namespace metrics
