// Arguments that a semaphore refuses. No server is needed: nothing is sent.

#include "unit/complaint.hpp"

#include <paddock/client.hpp>
#include <paddock/semaphore.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

std::string semaphore_complaint(const std::string& path, std::int32_t permits,
                                const semaphore_options& options = {},
                                const std::function<void(semaphore&)>& call = {}) {
    return complaint([&] {
        asio::io_context io;
        const client zk(io.get_executor(), "localhost");
        semaphore s(zk, path, permits, options);
        if (call) call(s);
    });
}

} // namespace

TEST_CASE("a malformed path of a semaphore or of its counter is refused") {
    for (const auto& row : std::initializer_list<wrong>{{"", "is empty"},
                                                        {"a", "does not start with '/'"},
                                                        {"/", "reserved"},
                                                        {"/zookeeper/config", "reserved"},
                                                        {"/a/", "ends with '/'"},
                                                        {"/a//b", "empty component"},
                                                        {"/a/../b", "relative component"},
                                                        {"/a\n", "refuses at byte 2"},
                                                        {"/\xff", "not valid UTF-8 at byte 1"},
                                                        {'/' + std::string(600, 'x'), "longer"}}) {
        CAPTURE(row.value);
        const auto text = semaphore_complaint(row.value, 1);
        CHECK(has(text, "semaphore path"));
        CHECK_MESSAGE(has(text, row.why), text);
        if (row.value.empty()) continue; // no counter
        const auto other = semaphore_complaint("/a", 1, {.counter = row.value});
        CHECK(has(other, "semaphore_options::counter"));
        CHECK_MESSAGE(has(other, row.why), other);
    }
    for (const std::string inside :
         {"/a/b/leases", "/a/b/locks", "/a/b/leases/x", "/a/b/locks/x", "/a/b", "/a"}) {
        CAPTURE(inside);
        CHECK(has(semaphore_complaint("/a/b", 1, {.counter = inside}), "own directories"));
    }
    for (const std::string fine : {"/b", "/a/b/count", "/a/b/leases-limit", "/a/c"}) {
        CAPTURE(fine);
        CHECK(semaphore_complaint("/a/b", 1, {.counter = fine}) == "no complaint");
    }
}

TEST_CASE("invalid numbers of permits are refused with a message that names the argument") {
    for (const std::int32_t permits : {0, -1, -2147483647 - 1}) {
        const auto text = semaphore_complaint("/a", permits);
        CHECK(has(text, "semaphore permits '" + std::to_string(permits) + "' is less than one"));
    }
    CHECK(semaphore_complaint("/a", 2147483647) == "no complaint");
    const auto token = [](error_code, guard) {};
    for (const std::int32_t count : {0, -3, 3}) {
        const auto why = count < 1 ? "' is less than one" : "' is more than the semaphore's 2";
        const auto expected = "semaphore count '" + std::to_string(count) + why;
        for (const auto& call : std::initializer_list<std::function<void(semaphore&)>>{
                 [&](semaphore& s) { s.acquire(count, token); },
                 [&](semaphore& s) { s.try_acquire(count, token); },
                 [&](semaphore& s) { s.enqueue(count, [](error_code, const ticket&) {}); },
                 [&](semaphore& s) { s.try_acquire_for(count, 1s, token); },
                 [&](semaphore& s) {
                     s.try_acquire_until(count, std::chrono::steady_clock::now(), token);
                 }}) {
            const auto text = semaphore_complaint("/a", 2, {}, call);
            CHECK_MESSAGE(has(text, expected), text);
        }
    }
    const auto set = [](std::int32_t permits) {
        return [permits](semaphore& s) { s.set_permits(permits, [](error_code) {}); };
    };
    CHECK(has(semaphore_complaint("/a", 2, {.counter = "/n"}, set(-1)), "'-1' is negative"));
    CHECK(has(semaphore_complaint("/a", 2, {}, set(1)), "semaphore_options::counter is empty"));
}

TEST_CASE("the label and the access control list of a semaphore are checked") {
    semaphore_options options;
    options.label = "\xff";
    CHECK(has(semaphore_complaint("/a", 1, options), "semaphore_options::label"));
    options.label = std::string(16 * 1024 + 1, 'x');
    CHECK(has(semaphore_complaint("/a", 1, options), "label is longer than 16 KiB"));
    options.label = "fine";
    CHECK(semaphore_complaint("/a", 1, options) == "no complaint");
    options.acl.clear();
    CHECK(has(semaphore_complaint("/a", 1, options), "semaphore_options::acl is empty"));
}
