// The scripts that show and end another client's hold on Redis, on a real server.

#include "redis_scripts_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock::test;
using namespace paddock::test::on_scripts;

TEST_CASE_FIXTURE(lock_harness, "a kicked hold cannot be renewed, and its release frees the lock") {
    const std::string ours = "pdk1:10000:1", kicked = "pdk1:10000:kicked:1";
    CHECK(look().what == kind::free);
    CHECK(kick(ours).what == kind::gone);
    acquire(ours);
    CHECK(look().what == kind::held);
    CHECK(look().holder == ours);
    CHECK(kick("pdk1:10000:2").what == kind::gone);
    CHECK(kick(ours).what == kind::kicked);
    const auto seen = look();
    CHECK(seen.holder == kicked);
    CHECK(seen.left > 0ms);
    CHECK(seen.left <= 10s);
    CHECK(kick(ours).what == kind::kicked); // once more
    CHECK(look().holder == kicked);
    CHECK(acquire("pdk1:10000:2").what == kind::taken);
    CHECK(renew(ours).what == kind::taken);
    CHECK(left() > 0);
    CHECK(left() <= 10'000);
    CHECK(release("pdk1:10000:2").what == kind::gone);
    CHECK(release(ours).what == kind::released);
    CHECK(look().what == kind::free);
}

TEST_CASE_FIXTURE(lock_harness, "the mark of a kick lasts longer than the hold can be renewed") {
    const std::string ours = "pdk1:10000:1", kicked = "pdk1:10000:kicked:1";
    for (const char* const left : {"300", "60000"}) {
        call({"SET", keys.name, ours, "PX", left});
        CHECK(kick(ours).what == kind::kicked);
        CHECK(look().holder == kicked);
        CHECK(look().left > 9s);
        CHECK(release(ours).what == kind::released);
    }
    call({"SET", keys.name, ours}); // without a time to live
    CHECK(kick(ours).what == kind::kicked);
    CHECK(look().left > 9s);
    CHECK(look().left <= 10s);
    CHECK(release(ours).what == kind::released);
    const std::string none = "pdk1:0:1", endless = "pdk1:99999999999999999999:1";
    call({"SET", keys.name, none, "PX", "1000"});
    CHECK(kick(none).what == kind::kicked);
    call({"DEL", keys.name});
    call({"SET", keys.name, endless});
    CHECK(kick(endless).what == kind::kicked);
    CHECK(look().left <= 24h);
    call({"DEL", keys.name});
}

TEST_CASE_FIXTURE(lock_harness, "the key of another library is deleted by a kick, and shown") {
    const std::string foreign = "a\"\n\xff", endless = "%100s(pdk1:";
    call({"SET", keys.name, foreign, "PX", "60000"});
    CHECK(look().holder == foreign);
    CHECK(kick("other").what == kind::gone);
    CHECK(kick(foreign).what == kind::kicked);
    CHECK(look().what == kind::free);
    call({"SET", keys.name, endless});
    CHECK(look().left < 0ms);
    CHECK(kick(endless).what == kind::kicked);
    CHECK(look().what == kind::free);
    call({"RPUSH", keys.name, "a list"});
    CHECK(look().what == kind::held);
    CHECK(look().holder.empty());
    CHECK(kick("").what == kind::gone);
}
