#include "support/utf8.hpp"

#include <paddock/client_state.hpp>
#include <paddock/observer.hpp>
#include <paddock/prometheus.hpp>
#include <paddock/statistics.hpp>
#include <paddock/version.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

namespace detail {
namespace {

struct counted_client {
    const client_statistics& statistics;
    std::string_view labels;
    bool of_zookeeper = statistics.node_path_bytes.limit > 0;
};

/// Writes one metric after the other, each with the series of all clients.
class prometheus_text {
public:
    prometheus_text(std::ostream& to, const std::vector<counted_client>& clients)
        : to_(to), clients_(clients) {}

    void locks();
    void lease();
    void session();
    void servers();
    void client();

private:
    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    using nanoseconds = std::chrono::nanoseconds;

    /// `write_series(client)` is called for each client.
    template <typename Write>
    void metric(std::string_view name, std::string_view type, std::string_view help,
                Write write_series) {
        name_ = name;
        line_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
        line_.append(name).append(" ").append(type).append("\n");
        for (const auto& one : clients_) {
            common_ = one.labels;
            write_series(one);
        }
        flush();
    }
    template <typename Write>
    void lock_metric(std::string_view name, std::string_view type, std::string_view help,
                     Write write_series) {
        metric(name, type, help, [&](const counted_client& one) {
            for (const auto& lock : one.statistics.locks)
                write_series(lock);
        });
    }
    /// `Value` belongs to the clients of ZooKeeper only.
    template <typename Value>
    void zookeeper_metric(std::string_view name, std::string_view type, std::string_view help,
                          Value value) {
        metric(name, type, help, [&](const counted_client& one) {
            if (one.of_zookeeper) sample({}, value(one.statistics));
        });
    }
    /// `write_series(server, name)`; the name is empty on ZooKeeper, where the numbers are those of
    /// the whole ensemble, whichever server is connected.
    template <typename Write>
    void server_metric(std::string_view name, std::string_view type, std::string_view help,
                       Write write_series) {
        metric(name, type, help, [&](const counted_client& one) {
            for (const auto& server : one.statistics.servers)
                write_series(server, one.of_zookeeper ? std::string_view() : server.server);
        });
    }

    template <typename Number>
    void sample(labels of, Number value) {
        sample("", of, "", value);
    }
    void sample(labels of, const histogram& times);
    void sample(labels of, nanoseconds time) { sample(of, in_seconds(time)); }
    template <typename Number>
    void sample(std::string_view suffix, labels of, std::string_view bound, Number value);

    void label(std::string_view name, std::string_view value);
    /// As no locale changes it.
    template <typename Number>
    static std::string text(Number value) {
        std::array<char, 32> room{};
        return {room.data(), std::to_chars(room.data(), room.data() + room.size(), value).ptr};
    }
    static double in_seconds(nanoseconds time) {
        return std::chrono::duration<double>(time).count();
    }
    void flush() {
        to_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
        line_.clear();
    }

    std::ostream& to_;
    const std::vector<counted_client>& clients_;
    std::string_view name_;   ///< of the metric
    std::string_view common_; ///< the labels of the client
    std::string line_;        ///< not yet written
};

void prometheus_text::label(std::string_view name, std::string_view value) {
    if (value.empty()) return; // which is the same to Prometheus
    line_ += line_.back() == '{' ? "" : ",";
    line_.append(name).append("=\"");
    while (!value.empty()) {
        const auto bytes = first_character(value).bytes;
        const char c = value.front();
        if (bytes == 0) {
            constexpr std::string_view digits = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            line_.append("\\\\x").append({digits[byte >> 4], digits[byte & 15]});
        } else if (c == '\n') {
            line_ += "\\n";
        } else {
            if (c == '"' || c == '\\') line_ += '\\';
            line_ += value.substr(0, bytes);
        }
        value.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    line_ += '"';
}

template <typename Number>
void prometheus_text::sample(std::string_view suffix, labels of, std::string_view bound,
                             Number value) {
    line_.append(name_).append(suffix).append("{").append(common_);
    for (const auto& [name, said] : of)
        label(name, said);
    label("le", bound);
    if (line_.back() == '{')
        line_.pop_back(); // no labels
    else
        line_ += '}';
    line_.append(" ").append(text(value)).append("\n");
    flush();
}

void prometheus_text::sample(labels of, const histogram& times) {
    std::uint64_t so_far = 0;
    for (std::size_t n = 0; n < times.counts.size(); ++n) {
        const auto bound =
            n < times.bounds.size() ? text(in_seconds(times.bounds[n])) : std::string("+Inf");
        sample("_bucket", of, bound, so_far += times.counts[n]);
    }
    sample("_sum", of, "", in_seconds(times.sum));
    sample("_count", of, "", so_far);
}

void prometheus_text::locks() {
    using enum wait_outcome;
    lock_metric("paddock_lock_wait_seconds", "histogram", "How long calls have waited for a lock.",
                [&](const lock_statistics& one) {
                    for (const auto how : {granted, busy, timeout, cancelled, error})
                        sample({{"lock", one.group},
                                {"kind", name_of(one.kind)},
                                {"outcome", name_of(how)}},
                               one.waited_until(how));
                });
    lock_metric("paddock_lock_hold_seconds", "histogram", "How long locks were held.",
                [&](const lock_statistics& one) {
                    for (const bool lost : {false, true})
                        sample({{"lock", one.group},
                                {"kind", name_of(one.kind)},
                                {"end", lost ? "lost" : "released"}},
                               lost ? one.lost : one.released);
                });
    lock_metric(
        "paddock_lock_lost_total", "counter", "Holds that were lost.",
        [&](const lock_statistics& one) {
            for (const auto& loss : one.losses)
                sample({{"lock", one.group}, {"kind", name_of(one.kind)}, {"reason", loss.name}},
                       loss.count);
        });
    lock_metric("paddock_locks_held", "gauge", "Holds that have not ended.",
                [&](const lock_statistics& one) {
                    sample({{"lock", one.group}, {"kind", name_of(one.kind)}}, one.holds);
                });
    lock_metric("paddock_lock_waiters", "gauge", "Calls that wait for a lock.",
                [&](const lock_statistics& one) {
                    sample({{"lock", one.group}, {"kind", name_of(one.kind)}}, one.waiters);
                });
    lock_metric("paddock_leader", "gauge", "Whether this client leads.",
                [&](const lock_statistics& one) {
                    if (one.kind == lock_kind::election) sample({{"lock", one.group}}, one.holds);
                });
    lock_metric("paddock_leader_transitions_total", "counter",
                "How often this client has become the leader.", [&](const lock_statistics& one) {
                    if (one.kind == lock_kind::election)
                        sample({{"lock", one.group}}, one.granted());
                });
}

void prometheus_text::lease() {
    metric("paddock_lease_late_total", "counter", "Leases that were not renewed in time.",
           [&](const counted_client& one) { sample({}, one.statistics.late_leases); });
    metric("paddock_lease_left_at_renewal_seconds", "histogram",
           "What was left of the lease when it was renewed.",
           [&](const counted_client& one) { sample({}, one.statistics.lease_left); });
    zookeeper_metric("paddock_lease_remaining_seconds", "gauge", "What is left of the lease.",
                     [](const client_statistics& all) { return all.lease_remaining; });
}

void prometheus_text::session() {
    metric("paddock_session_state", "gauge", "The state of the client: 1 for one of them.",
           [&](const counted_client& one) {
               using enum client_state;
               if (!one.of_zookeeper) return;
               for (const auto state : {connecting, connected, suspended, expired, closed})
                   sample({{"state", name_of(state)}}, int(one.statistics.state == state));
           });
    zookeeper_metric("paddock_sessions_total", "counter", "Sessions of the client.",
                     [](const client_statistics& all) { return all.epoch; });
    zookeeper_metric("paddock_disconnects_total", "counter", "Connections that were lost.",
                     [](const client_statistics& all) { return all.disconnects; });
    zookeeper_metric("paddock_session_timeout_seconds", "gauge",
                     "The timeout of the session; 0 without one.",
                     [](const client_statistics& all) { return nanoseconds(all.session_timeout); });
    zookeeper_metric("paddock_watched_paths", "gauge", "Paths that are watched.",
                     [](const client_statistics& all) { return all.watches; });
    zookeeper_metric("paddock_deletes_pending", "gauge", "Deletes of nodes that must not stay.",
                     [](const client_statistics& all) { return all.deletes_pending; });
    zookeeper_metric("paddock_orphans_total", "counter",
                     "Nodes that a lost answer had left, and were deleted.",
                     [](const client_statistics& all) { return all.orphans; });
}

void prometheus_text::servers() {
    metric("paddock_server_usable", "gauge", "Whether the server can be used for locks.",
           [&](const counted_client& one) {
               for (const auto& server : one.statistics.servers)
                   sample({{"server", server.server}}, int(server.usable));
           });
    server_metric("paddock_request_seconds", "histogram", "Round trips of requests.",
                  [&](const server_statistics& one, std::string_view name) {
                      for (const bool write : {false, true})
                          sample({{"server", name}, {"operation", write ? "write" : "read"}},
                                 write ? one.writes : one.reads);
                  });
    server_metric("paddock_last_round_trip_seconds", "gauge", "The last round trip; 0 before it.",
                  [&](const server_statistics& one, std::string_view name) {
                      sample({{"server", name}}, one.last_round_trip);
                  });
    server_metric("paddock_requests_in_flight", "gauge", "Requests that are not yet answered.",
                  [&](const server_statistics& one, std::string_view name) {
                      sample({{"server", name}}, one.requests_in_flight);
                  });
    server_metric("paddock_request_bytes_in_flight", "gauge", "The bytes of these requests.",
                  [&](const server_statistics& one, std::string_view name) {
                      sample({{"server", name}}, one.bytes_in_flight);
                  });
}

void prometheus_text::client() {
    const auto for_each_budget = [](const counted_client& one, auto write_series) {
        const auto& all = one.statistics;
        for (const auto& [name, budget] : {std::pair("node_path_bytes", &all.node_path_bytes),
                                           std::pair("watched_path_bytes", &all.watched_path_bytes),
                                           std::pair("attempts", &all.attempts)})
            if (budget->limit > 0) write_series(name, *budget);
    };
    metric("paddock_budget_used_ratio", "gauge", "How much of a budget is used, from 0 to 1.",
           [&](const counted_client& one) {
               for_each_budget(one, [&](std::string_view name, const budget_statistics& budget) {
                   sample({{"budget", name}},
                          static_cast<double>(budget.used) / static_cast<double>(budget.limit));
               });
           });
    metric("paddock_budget_waits_total", "counter", "How often something had to wait for room.",
           [&](const counted_client& one) {
               for_each_budget(one, [&](std::string_view name, const budget_statistics& budget) {
                   sample({{"budget", name}}, budget.waits);
               });
           });
    metric("paddock_loop_delay_seconds", "histogram", "How late the client's timers have fired.",
           [&](const counted_client& one) { sample({}, one.statistics.loop_delay); });
    metric("paddock_build_info", "gauge", "1, with the version of the library.",
           [&](const counted_client&) {
               sample({{"version", version().text}}, 1);
           });
}

void write_text(std::ostream& to, const std::vector<counted_client>& clients) {
    prometheus_text text(to, clients);
    text.locks();
    text.lease();
    text.session();
    text.servers();
    text.client();
}

} // namespace
} // namespace detail

void write_prometheus(std::ostream& to, const client_statistics& all, std::string_view labels) {
    detail::write_text(to, {{all, labels}});
}

void write_prometheus(std::ostream& to, std::span<const labelled_statistics> all) {
    std::vector<detail::counted_client> clients;
    for (const auto& [statistics, labels] : all)
        clients.push_back({statistics, labels});
    detail::write_text(to, clients);
}

} // namespace paddock
