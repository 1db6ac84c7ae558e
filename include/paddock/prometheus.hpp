#pragma once

#include <paddock/statistics.hpp>

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace paddock {

/// What one of several clients has done, with labels that tell it from the others: see
/// write_prometheus().
struct labelled_statistics {
    client_statistics statistics{};
    std::string labels{};
};

/// Writes the statistics of a client in Prometheus's text format, which a service answers to
/// `GET /metrics` as `text/plain; version=0.0.4`:
///
///     paddock::write_prometheus(to, zk.statistics());
///
/// The guide has a table of the metrics. Times are in seconds. What there is only on ZooKeeper, or
/// only on Redis, is written only for a client of it.
///
/// `labels` stand in every series, as `client="a",zone="eu"`: separated by commas, each value
/// quoted and escaped (`\\`, `\"`, `\n`), and no name that the metrics have themselves. In the
/// values that come from the client, such as the names of groups, it escapes these, and writes each
/// byte that is not UTF-8, which Prometheus refuses, as `\xNN`.
///
/// Several clients in one answer need the other form: a metric may stand there only once, and has
/// the series of all of them.
///
///     const std::vector<paddock::labelled_statistics> both{
///         {orders.statistics(), "client=\"orders\""}, {stock.statistics(), "client=\"stock\""}};
///     paddock::write_prometheus(to, both);
///
/// The text ends with a line feed, and the program may write metrics of its own before and behind
/// it. The format flags, the precision and the locale of the stream do not matter, and stay.
///
/// Errors: those of the stream, as its exceptions() say.
///
/// Thread safety: any thread, of a stream that no other uses meanwhile.
[[gnu::visibility("default")]] void write_prometheus(std::ostream& to, const client_statistics& all,
                                                     std::string_view labels = {});
[[gnu::visibility("default")]] void write_prometheus(std::ostream& to,
                                                     std::span<const labelled_statistics> all);

} // namespace paddock
