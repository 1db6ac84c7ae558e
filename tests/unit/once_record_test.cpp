// Which runs `paddock once` takes for the same.
#include "once_record.hpp"
#include "servers.hpp"
#include "settings.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

/// 2026-11-28 12:00:00 UTC, a Saturday.
constexpr std::int64_t noon = 1'795'867'200'000;
constexpr std::int64_t minute = 60'000, hour = 60 * minute, day = 24 * hour;

class time_zone {
public:
    explicit time_zone(const char* name) {
        setenv("TZ", name, 1);
        tzset();
    }
    ~time_zone() {
        unsetenv("TZ");
        tzset();
    }
};

bool same(const std::string& per, std::int64_t started, std::int64_t now) {
    return cli::same_occasion({"", per}, started, now);
}

TEST_CASE("a day, an hour and a week are those of the calendar, in the time zone of the machine") {
    {
        const time_zone here("UTC");
        CHECK(same("day", noon - 12 * hour, noon + 12 * hour - 1));
        CHECK_FALSE(same("day", noon - 12 * hour - 1, noon));
        CHECK_FALSE(same("day", noon, noon + 12 * hour));
        CHECK(same("hour", noon, noon + hour - 1));
        CHECK_FALSE(same("hour", noon - 1, noon));
        CHECK(same("week", noon - 5 * day, noon + day)); // Monday to Sunday
        CHECK_FALSE(same("week", noon, noon + 2 * day));
        CHECK_FALSE(same("day", noon, noon + 365 * day));
    }
    const time_zone there("XXX-13"); // 13 hours ahead: noon is one o'clock of the next day
    CHECK_FALSE(same("day", noon - 2 * hour, noon));
    CHECK(same("day", noon - hour, noon + 22 * hour));
}

TEST_CASE("the hour that comes twice when summer time ends is two") {
    const time_zone here("CET-1CEST,M3.5.0,M10.5.0/3");
    constexpr std::int64_t first = 1'792'887'300'000; // 2026-10-25 02:15 CEST
    CHECK(same("hour", first, first + 30 * minute));
    CHECK_FALSE(same("hour", first, first + hour));
}

TEST_CASE("a time as a period counts from the start of the last run") {
    CHECK(same("6h", noon, noon + 6 * hour - 1));
    CHECK_FALSE(same("6h", noon, noon + 6 * hour));
}

TEST_CASE("a key is the same at any time") {
    CHECK(cli::same_occasion({"abc", ""}, noon, noon + 1000 * day));
}

TEST_CASE("what is recorded of a run can be read again") {
    const auto run = cli::parse_finished_run(cli::to_text({noon, "host=a\nby=b, process 7"}));
    REQUIRE(run);
    CHECK(run->started == noon);
    CHECK(run->by == "host=a\nby=b, process 7");
    for (const char* text : {"", "started=", "started=x\nby=y\n", "started=1", "x\nby=y"})
        CHECK_MESSAGE(!cli::parse_finished_run(text), text);
}

TEST_CASE("the names of the records of different keys cannot be confused") {
    const cli::occasion a{"a", ""}, longer{"a-0000000001", ""}, slash{"a/b", ""};
    const std::vector<std::string> nodes{cli::record_name(longer) + "0000000007",
                                         cli::record_name(a) + "0000000009",
                                         cli::record_name(a) + "0000000008", "per-0000000003"};
    CHECK(cli::records_of(cli::record_name(a), nodes) == std::vector{nodes[2], nodes[1]});
    CHECK(cli::records_of(cli::record_name(longer), nodes) == std::vector{nodes[0]});
    CHECK(cli::record_name(slash).find('/') == std::string::npos);
}

TEST_CASE("the name of a record says which key it is for") {
    for (const char* key : {"a", "a/b-0000000001", "100%", "\xc3\xa4 \n", "%zz", "per"})
        CHECK(cli::key_of(cli::record_name({key, ""}) + "0000000001") == key);
    CHECK(cli::key_of("key-%zz%4-0000000001") == "%zz%4"); // not by paddock
    CHECK(cli::key_of(cli::record_name({"", "day"}) + "0000000001").empty());
    CHECK(cli::occasion_of("per-0000000001") == "per-");
    CHECK(cli::occasion_of("key-a-0000000001") == "key-a-");
    for (const char* other : {"", "0000000001", "per-", "key-0000000001", "key-a0000000001",
                              "key-a-b-0000000001", "per-a-0000000001", "per-x000000001"})
        CHECK_MESSAGE(cli::occasion_of(other).empty(), other);
}

TEST_CASE("an occasion is either a period or a key") {
    CHECK_NOTHROW(cli::check(cli::occasion{"", "day"}));
    CHECK_NOTHROW(cli::check(cli::occasion{"", "90m"}));
    CHECK_NOTHROW(cli::check(cli::occasion{"k", ""}));
    for (const cli::occasion& bad : {cli::occasion{}, {"k", "day"}, {"", "month"}, {"", "0s"}})
        CHECK_THROWS_AS(cli::check(bad), cli::usage_error);
    const cli::occasion long_key{std::string(300, 'k'), ""};
    CHECK_THROWS_AS(cli::check(long_key), cli::usage_error);
}

TEST_CASE("times have a unit, or are seconds") {
    using cli::milliseconds;
    CHECK(cli::read_time("250ms") == milliseconds(250));
    CHECK(cli::read_time("1.5") == milliseconds(1500));
    CHECK(cli::read_time("5m") == milliseconds(5 * minute));
    CHECK(cli::read_time("5min") == milliseconds(5 * minute));
    CHECK(cli::read_time("2h") == milliseconds(2 * hour));
    CHECK(cli::read_time("1d") == milliseconds(day));
    for (const char* text : {"", "s", "-1s", "1 s", "1y", "nan", "inf", "1e300d", "1ss"})
        CHECK_THROWS_AS_MESSAGE(cli::read_time(text), CLI::ValidationError, text);
}

} // namespace
