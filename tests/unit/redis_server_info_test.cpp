// What a Redis server says about itself, and which servers must not be used for locks.

#include "redis/rules/server_info.hpp"

#include <doctest/doctest.h>

using namespace paddock::redis::rules;

namespace {

/// As Redis 7.0.15 says it, shortened.
constexpr std::string_view healthy =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux 6.1 x86_64\r\n"
    "run_id:9a1f24b0c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3\r\nexecutable:/usr/bin/redis-server\r\n"
    "server_time_usec:1795458840131066\r\n"
    "\r\n# Memory\r\nused_memory:1000\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n"
    "maxmemory_policy:noeviction\r\n\r\n# Persistence\r\nloading:0\r\nasync_loading:0\r\n"
    "\r\n# Replication\r\nrole:master\r\nmaster_replid:1234\r\n# Cluster\r\ncluster_enabled:0\r\n";

std::string with(std::string_view line, std::string_view instead) {
    std::string text(healthy);
    return text.replace(text.find(line), line.size(), instead);
}
std::string fault_with(std::string_view line, std::string_view instead) {
    return fault_of(read_info(with(line, instead)));
}

} // namespace

TEST_CASE("what a healthy server says") {
    const auto info = read_info(healthy);
    CHECK(info == server_info{7, "7.0.15", "9a1f24b0c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3", "master",
                              false, false, 0, "noeviction",
                              std::chrono::microseconds(1795458840131066)});
    CHECK(fault_of(info) == "");
}

TEST_CASE("lines are read whatever stands between them") {
    CHECK(read_info("") == server_info{});
    CHECK(read_info("\r\n\n:\n::\r\nrole") == server_info{});
    CHECK(read_info("# role:slave\r\n").role == "");
    CHECK(read_info("role:master").role == "master");
    CHECK(read_info("role:a:b\n").role == "a:b");
    CHECK(read_info("maxmemory:x\n").memory_limit == 0);
    CHECK(read_info("maxmemory:99999999999\n").memory_limit == 99'999'999'999);
    CHECK(read_info(with("loading:0", "loading:1")).is_loading);
}

TEST_CASE("a version below 5, or none, is a fault") {
    CHECK(fault_with("redis_version:7.0.15", "redis_version:4.0.14") ==
          "the server is Redis '4.0.14': locks need version 5 or later");
    CHECK(fault_with("redis_version:7.0.15", "redis_version:5.0.0") == "");
    CHECK(fault_with("redis_version:7.0.15", "redis_version:10.1") == "");
    for (const auto* none : {"version:3", "redis_version:", "redis_version:x", "redis_version:-7"})
        CHECK(fault_with("redis_version:7.0.15", none).find("which version") != std::string::npos);
}

TEST_CASE("a cluster, and every role but master's, is a fault") {
    CHECK(fault_with("cluster_enabled:0", "cluster_enabled:1").find("cluster") !=
          std::string::npos);
    CHECK(fault_with("role:master", "role:slave") ==
          "the server's role is 'slave': only a master can grant locks");
    CHECK(fault_with("role:master", "") != "");
    CHECK(fault_with("role:master", "role:\x1b[2J") ==
          "the server's role is '?[2J': only a master can grant locks");
    CHECK(fault_with("role:master", "role:" + std::string(1000, 'x')).size() < 100);
}

TEST_CASE("a memory limit is a fault if keys are evicted at it") {
    CHECK(fault_with("maxmemory:0", "maxmemory:1000") == "");
    CHECK(fault_with("maxmemory_policy:noeviction", "maxmemory_policy:allkeys-lru") == "");
    auto info = read_info(healthy);
    info.memory_limit = 1000;
    for (const auto* policy : {"allkeys-lru", "volatile-ttl", ""}) {
        info.memory_policy = policy;
        CHECK(fault_of(info) == "the server has maxmemory with the policy '" + std::string(policy) +
                                    "', and may evict a lock: set maxmemory-policy to noeviction");
    }
}
