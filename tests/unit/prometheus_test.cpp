// The statistics as text for Prometheus, read by a strict parser of that format.

#include <paddock/prometheus.hpp>
#include <paddock/version.hpp>

#include <doctest/doctest.h>

#include <iomanip>
#include <limits>
#include <locale>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace paddock;
using namespace std::chrono_literals;

namespace {

using label_set = std::map<std::string, std::string>;

/// What https://prometheus.io/docs/instrumenting/exposition_formats/ allows; throws what it does
/// not.
class exposition {
public:
    explicit exposition(const std::string& text) {
        need(text.empty() || text.back() == '\n', "no line feed at the end");
        std::istringstream lines(text);
        while (std::getline(lines, line_))
            line_.starts_with("# ") ? comment() : series();
        for (const auto& [name, type] : types)
            if (type == "histogram") check_histogram(name);
    }

    double operator()(const std::string& name, const label_set& labels = {}) const {
        const auto found = values.find({name, labels});
        return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
    }

    std::map<std::string, std::string> types;                     ///< of the metrics
    std::map<std::pair<std::string, label_set>, double> values{}; ///< of the series

private:
    void need(bool condition, const std::string& fault) const {
        if (!condition) throw std::runtime_error(fault + ": " + line_);
    }
    static bool is_name(const std::string& text) {
        return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
    }

    void comment() {
        std::istringstream words(line_);
        std::string hash, what, name, rest;
        words >> hash >> what >> name;
        std::getline(words >> std::ws, rest);
        need(is_name(name) && !rest.empty(), "no comment with a name");
        if (what == "HELP") {
            need(types.count(name) == 0, "a metric in two places");
            helped_ = name;
            return;
        }
        need(what == "TYPE" && helped_ == name, "a type without a help");
        need(std::set<std::string>{"counter", "gauge", "histogram"}.count(rest) == 1, "no type");
        need((rest == "counter") == name.ends_with("_total"), "the suffix of a counter");
        need(types.emplace(name, rest).second, "two types");
        metric_ = name;
    }

    void series() {
        const auto end = line_.find_first_of("{ ");
        need(end != line_.npos, "no value");
        const auto name = line_.substr(0, end);
        auto of = name;
        if (types[metric_] == "histogram")
            for (const std::string suffix : {"_bucket", "_sum", "_count"})
                if (of == metric_ + suffix) of = metric_;
        need(of == metric_ && is_name(name), "a series of another metric");
        std::size_t at = end;
        label_set labels;
        if (line_[at] == '{') {
            do
                labels.insert(label(++at, labels));
            while (line_.at(at) == ',');
            need(line_.at(at++) == '}', "no end of the labels");
        }
        need(line_.at(at) == ' ', "no space");
        std::istringstream number(line_.substr(at + 1));
        number.imbue(std::locale::classic());
        double value = 0;
        need(number >> value && number.eof(), "no number");
        need(values.emplace(std::pair(name, labels), value).second, "a series twice");
    }

    std::pair<std::string, std::string> label(std::size_t& at, const label_set& before) const {
        const auto equals = line_.find('=', at);
        need(equals != line_.npos, "no label");
        const auto name = line_.substr(at, equals - at);
        need(is_name(name) && before.count(name) == 0, "a label's name");
        at = equals + 1;
        need(line_.at(at++) == '"', "no quotation mark");
        std::string value;
        for (; line_.at(at) != '"'; ++at) {
            if (line_[at] == '\\') {
                const char c = line_.at(++at);
                need(c == 'n' || c == '"' || c == '\\', "an escape");
                value += c == 'n' ? '\n' : c;
            } else {
                value += line_[at];
            }
        }
        ++at;
        return {name, value};
    }

    void check_histogram(const std::string& name) const {
        for (const auto& [series, count] : values) {
            if (series.first != name + "_count") continue;
            std::map<double, double> buckets;
            for (const auto& [one, value] : values) {
                auto labels = one.second;
                const auto bound = labels.extract("le");
                if (one.first == name + "_bucket" && labels == series.second)
                    buckets[bound.mapped() == "+Inf" ? std::numeric_limits<double>::infinity()
                                                     : std::stod(bound.mapped())] = value;
            }
            double before = 0;
            for (const auto& [bound, value] : buckets) {
                need(value >= before, "a bucket without those before it: " + name);
                before = value;
            }
            need(buckets.size() == histogram::bounds.size() + 1, "the buckets: " + name);
            need(before == count && values.count({name + "_sum", series.second}) == 1, name);
        }
    }

    std::string line_, helped_, metric_;
};

/// `count` times in the third bucket.
histogram some(std::uint64_t count) {
    histogram times;
    times.counts[2] = count;
    times.sum = count * 7ms;
    return times;
}

lock_statistics lock_of(const std::string& group, lock_kind kind) {
    lock_statistics one;
    one.group = group;
    one.kind = kind;
    for (std::uint64_t n = 0; n < one.waited.size(); ++n)
        one.waited[n] = some(n + 1);
    one.released = some(20);
    one.lost = some(3);
    one.losses = {{errc::lease_lapsed, "lease_lapsed", 1}, {errc::revoked, "revoked", 2}};
    one.waiters = 5;
    one.holds = 1;
    return one;
}

client_statistics on_zookeeper() {
    client_statistics all;
    all.locks = {lock_of("/a", lock_kind::mutex), lock_of("/b", lock_kind::election),
                 lock_of("/a", lock_kind::semaphore)};
    all.servers = {{"10.0.0.1:2181", true, some(8), some(9), 3, 400, 2ms}};
    all.lease_left = some(10);
    all.late_leases = 11;
    all.loop_delay = some(12);
    all.node_path_bytes = {250, 1000, 13};
    all.watched_path_bytes = {0, 1000, 14};
    all.state = client_state::suspended;
    all.epoch = 2;
    all.disconnects = 15;
    all.session_timeout = 10s;
    all.lease_remaining = 6500ms;
    all.watches = 16;
    all.deletes_pending = 17;
    all.orphans = 18;
    return all;
}

client_statistics on_redis() {
    client_statistics all;
    all.locks = {lock_of("orders", lock_kind::mutex)};
    all.servers = {{"10.0.0.1:6379", true, {}, some(3), 1, 0, 1ms},
                   {"10.0.0.2:6379", false, {}, some(4), 0, 0, 0ns}};
    all.attempts = {1, 100, 2};
    return all;
}

template <typename... Arguments>
exposition read(const Arguments&... arguments) {
    std::ostringstream to;
    write_prometheus(to, arguments...);
    return exposition(to.str());
}

} // namespace

TEST_CASE("each of the numbers is in the text for Prometheus") {
    const auto seen = read(on_zookeeper());
    const label_set a{{"lock", "/a"}, {"kind", "mutex"}};
    const auto with = [](label_set labels, const std::string& name, const std::string& value) {
        labels[name] = value;
        return labels;
    };
    double nth = 0;
    for (const auto* const how : {"granted", "busy", "timeout", "cancelled", "error"})
        CHECK(seen("paddock_lock_wait_seconds_count", with(a, "outcome", how)) == ++nth);
    const auto granted = with(a, "outcome", "granted");
    CHECK(seen("paddock_lock_wait_seconds_sum", granted) == 0.007);
    CHECK(seen("paddock_lock_wait_seconds_bucket", with(granted, "le", "0.005")) == 0);
    CHECK(seen("paddock_lock_wait_seconds_bucket", with(granted, "le", "0.01")) == 1);
    CHECK(seen("paddock_lock_wait_seconds_bucket", with(granted, "le", "300")) == 1);
    CHECK(seen("paddock_lock_hold_seconds_count", with(a, "end", "released")) == 20);
    CHECK(seen("paddock_lock_hold_seconds_count", with(a, "end", "lost")) == 3);
    CHECK(seen("paddock_lock_lost_total", with(a, "reason", "lease_lapsed")) == 1);
    CHECK(seen("paddock_lock_lost_total", with(a, "reason", "revoked")) == 2);
    CHECK(seen("paddock_locks_held", a) == 1);
    CHECK(seen("paddock_lock_waiters", a) == 5);
    CHECK(seen("paddock_leader", {{"lock", "/b"}}) == 1);
    CHECK(seen("paddock_leader_transitions_total", {{"lock", "/b"}}) == 1);
    CHECK(seen("paddock_lease_late_total") == 11);
    CHECK(seen("paddock_lease_left_at_renewal_seconds_count") == 10);
    CHECK(seen("paddock_lease_remaining_seconds") == 6.5);
    CHECK(seen("paddock_session_state", {{"state", "suspended"}}) == 1);
    CHECK(seen("paddock_session_state", {{"state", "connected"}}) == 0);
    CHECK(seen("paddock_session_timeout_seconds") == 10);
    CHECK(seen("paddock_sessions_total") == 2);
    CHECK(seen("paddock_disconnects_total") == 15);
    CHECK(seen("paddock_watched_paths") == 16);
    CHECK(seen("paddock_deletes_pending") == 17);
    CHECK(seen("paddock_orphans_total") == 18);
    CHECK(seen("paddock_server_usable", {{"server", "10.0.0.1:2181"}}) == 1);
    CHECK(seen("paddock_request_seconds_count", {{"operation", "read"}}) == 8);
    CHECK(seen("paddock_request_seconds_count", {{"operation", "write"}}) == 9);
    CHECK(seen("paddock_last_round_trip_seconds") == 0.002);
    CHECK(seen("paddock_requests_in_flight") == 3);
    CHECK(seen("paddock_request_bytes_in_flight") == 400);
    CHECK(seen("paddock_budget_used_ratio", {{"budget", "node_path_bytes"}}) == 0.25);
    CHECK(seen("paddock_budget_waits_total", {{"budget", "node_path_bytes"}}) == 13);
    CHECK(seen("paddock_budget_waits_total", {{"budget", "watched_path_bytes"}}) == 14);
    CHECK(seen("paddock_loop_delay_seconds_count") == 12);
    CHECK(seen("paddock_build_info", {{"version", std::string(version().text)}}) == 1);
}

TEST_CASE("a client of Redis has the series of its servers, and none of a session") {
    const auto seen = read(on_redis());
    const label_set second{{"server", "10.0.0.2:6379"}};
    CHECK(seen("paddock_server_usable", second) == 0);
    CHECK(seen("paddock_request_seconds_count",
               {{"server", "10.0.0.2:6379"}, {"operation", "write"}}) == 4);
    CHECK(seen("paddock_budget_waits_total", {{"budget", "attempts"}}) == 2);
    for (const auto& [series, value] : seen.values) {
        CHECK(series.first != "paddock_session_state");
        CHECK(series.second != label_set{{"budget", "node_path_bytes"}});
    }
}

TEST_CASE("what Prometheus would misread is escaped, or replaced") {
    client_statistics all;
    all.locks = {lock_of("/\"a\"\\b\nc €\xff\xc3(", lock_kind::mutex)};
    CHECK(read(all)("paddock_locks_held",
                    {{"lock", "/\"a\"\\b\nc €\\xff\\xc3("}, {"kind", "mutex"}}) == 1);
}

TEST_CASE("labels tell clients from each other, and a metric of several stands in one place") {
    const auto one = read(on_zookeeper(), "client=\"a\",zone=\"eu\"");
    for (const auto& [series, value] : one.values) {
        CHECK(series.second.at("client") == "a");
        CHECK(series.second.at("zone") == "eu");
    }
    CHECK(one("paddock_lease_late_total", {{"client", "a"}, {"zone", "eu"}}) == 11);
    const std::vector<labelled_statistics> clients{
        {on_zookeeper(), "client=\"a\""}, {on_redis(), "client=\"b\""}, {{}, "client=\"c\""}};
    const auto all = read(clients);
    CHECK(all("paddock_lease_late_total", {{"client", "a"}}) == 11);
    CHECK(all("paddock_lease_late_total", {{"client", "b"}}) == 0);
    CHECK(all("paddock_build_info", {{"client", "c"}, {"version", std::string(version().text)}}) ==
          1);
    std::ostringstream nothing;
    write_prometheus(nothing, std::vector<labelled_statistics>());
    CHECK(exposition(nothing.str()).values.empty());
}

TEST_CASE("the flags and the locale of the stream change nothing, and stay") {
    struct commas : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\1"; }
    };
    std::ostringstream plain, to;
    write_prometheus(plain, on_zookeeper());
    to.imbue(std::locale(to.getloc(), new commas));
    to << std::hex << std::showpos << std::fixed << std::setprecision(2) << std::setfill('*')
       << std::setw(9);
    const auto flags = to.flags();
    write_prometheus(to, on_zookeeper());
    CHECK(to.str() == plain.str());
    CHECK(to.flags() == flags);
    CHECK(to.precision() == 2);
    CHECK(to.width() == 9);
    CHECK(to.fill() == '*');
}
