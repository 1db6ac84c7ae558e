// Arguments that constructors refuse. No server is needed: nothing is sent.

#include "unit/complaint.hpp"

#include <paddock/client.hpp>
#include <paddock/election.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/simple_mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

std::string client_complaint(const std::string& servers, const client_options& options = {}) {
    return complaint([&] {
        asio::io_context io;
        const client zk(io.get_executor(), servers, options);
    });
}

std::string mutex_complaint(const std::string& path, const mutex_options& options = {}) {
    return complaint([&] {
        asio::io_context io;
        const client zk(io.get_executor(), "localhost");
        const mutex m(zk, path, options);
    });
}

} // namespace

TEST_CASE("control characters of an argument are escaped in the exception's text") {
    CHECK(has(mutex_complaint("/a\x1b[2Jb"), "'/a\\x1b[2Jb'"));
    CHECK(has(mutex_complaint(std::string("/a\0b\n", 5)), "'/a\\x00b\\x0a'"));
    CHECK(has(mutex_complaint("/\xc2\x9b"), "'/\\xc2\\x9b'"));
    mutex_options options;
    options.name = "a/\r\nb";
    CHECK(has(mutex_complaint("/a", options), "'a/\\x0d\\x0ab' contains a '/'"));
    CHECK(has(client_complaint("a\x1b[2J"), "'a\\x1b[2J'"));
}

TEST_CASE("an empty executor is refused") {
    const auto text = complaint([] { const client zk(asio::any_io_executor(), "localhost"); });
    CHECK(text.starts_with("executor is empty"));
}

TEST_CASE("a malformed server list is refused with a message that says why") {
    for (const auto& row : std::initializer_list<wrong>{{"", "empty"},
                                                        {",", "empty"},
                                                        {"a,,", "entry 2: ''"},
                                                        {",a", "empty"},
                                                        {"a,,b", "empty"},
                                                        {":2181", "empty"},
                                                        {"/root", "empty"},
                                                        {"a:", "port ''"},
                                                        {"a:b", "port 'b'"},
                                                        {"a:0", "port '0'"},
                                                        {"a:65536", "port '65536'"},
                                                        {"a:99999999999999999999", "port"},
                                                        {"a:-1", "port '-1'"},
                                                        {"a:+1", "port '+1'"},
                                                        {"a:2181x", "port '2181x'"},
                                                        {"a: 2181", "port ' 2181'"},
                                                        {"a b", "host 'a b'"},
                                                        {"a, b c", "entry 2: 'b c'"},
                                                        {"a;b", "host 'a;b'"},
                                                        {"a\nb", "entry 1: 'a\\x0ab'"},
                                                        {"ä", "host"},
                                                        {std::string("a\0b", 3), "host"},
                                                        {"[::1", "'[' without ']'"},
                                                        {"[]", "empty"},
                                                        {"[]:2181", "empty"},
                                                        {"[::1]2181", "behind ']'"},
                                                        {"[::1]:", "port ''"},
                                                        {"[::1]:0", "port '0'"},
                                                        {"::1]", "host"},
                                                        {"::1", "without brackets"},
                                                        {"a:2181/", ""},
                                                        {"a//b", "root"},
                                                        {"a/b//", "root"},
                                                        {"a/..", "root"},
                                                        {"a/b,c", "root"},
                                                        {"a/\x01", "root"},
                                                        {"a/\xff", "root"}}) {
        const auto& list = row.value;
        const auto& why = row.why;
        CAPTURE(list);
        const auto text = client_complaint(list);
        if (why.empty()) {
            CHECK(text == "no complaint"); // the counterpart: these are accepted
            continue;
        }
        CHECK(has(text, "servers"));
        CHECK_MESSAGE(has(text, why), text);
    }
}

TEST_CASE("every usual form of a server list is accepted") {
    for (const std::string list :
         {"localhost", "a:1", "a:65535", "zk1.example.com:2181,zk2.example.com:2181", "127.0.0.1",
          "[::1]", "[::1]:2181", "[fe80::1%eth0]", "a_b-c.d:2181/app", "a,b,c/app/more", "a/ä",
          "10.0.0.1:2181,10.0.0.2:2181/", "a:1, b:2", " a", "a:2181 ", "a,", "a\n", "zk://a,b/",
          "zookeeper://a"}) {
        CAPTURE(list);
        CHECK(client_complaint(list) == "no complaint");
    }
}

TEST_CASE("a malformed root is refused") {
    for (const auto& row :
         std::initializer_list<wrong>{{"app", "does not start with '/'"},
                                      {"/app/", "ends with '/'"},
                                      {"//", "'/'"},
                                      {"/a//b", "empty component"},
                                      {"/a/../b", "relative component"},
                                      {"/.", "relative component"},
                                      {"/a\tb", "refuses at byte 2"},
                                      {"/\xc3", "not valid UTF-8 at byte 1"},
                                      {std::string("/a\0b", 4), "refuses at byte 2"}}) {
        const auto& root = row.value;
        const auto& why = row.why;
        CAPTURE(root);
        client_options options;
        options.root = root;
        const auto text = client_complaint("localhost", options);
        CHECK(has(text, "root"));
        CHECK_MESSAGE(has(text, why), text);
    }
    client_options twice;
    twice.root = "/a";
    const auto text = client_complaint("localhost/b", twice);
    CHECK(has(text, "root"));
    CHECK(has(text, "twice"));
}

TEST_CASE("an empty root, and a root that is given once, are accepted") {
    for (const std::string root : {"", "/", "/app", "/app/more"}) {
        client_options options;
        options.root = root;
        CHECK(client_complaint("localhost", options) == "no complaint");
        CHECK(client_complaint("localhost/", options) == "no complaint");
    }
}

TEST_CASE("a session timeout must be one that a server could grant") {
    for (const auto wrong_one : {std::chrono::milliseconds(0), std::chrono::milliseconds(99),
                                 std::chrono::milliseconds(-1), std::chrono::milliseconds::max(),
                                 std::chrono::milliseconds::min(), 24h + 1ms}) {
        client_options options;
        options.session_timeout = wrong_one;
        const auto text = client_complaint("localhost", options);
        CHECK(has(text, "session_timeout"));
        CHECK(has(text, "100 ms"));
    }
    for (const auto right : {std::chrono::milliseconds(100), std::chrono::milliseconds(24h)}) {
        client_options options;
        options.session_timeout = right;
        CHECK(client_complaint("localhost", options) == "no complaint");
    }
}

TEST_CASE("budgets that allow nothing, or too much, are refused") {
    const auto with = [](auto change) {
        client_options options;
        change(options.budgets);
        return client_complaint("localhost", options);
    };
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1023}, std::size_t{1024 * 1024 + 1}, ~std::size_t{0}}) {
        const auto text = with([&](client_budgets& b) { b.node_path_bytes = bytes; });
        CHECK(has(text, "node_path_bytes"));
        CHECK(has(text, "1 MiB"));
    }
    for (const std::size_t bytes : {0, 1023, 512 * 1024 + 1}) {
        const auto text = with([&](client_budgets& b) { b.watched_path_bytes = bytes; });
        CHECK(has(text, "watched_path_bytes"));
        CHECK(has(text, "512 KiB"));
    }
    auto text = with([](client_budgets& b) { b.requests_in_flight = 0; });
    CHECK(has(text, "requests_in_flight"));
    text = with([](client_budgets& b) { b.request_bytes_in_flight = 0; });
    CHECK(has(text, "request_bytes_in_flight"));
    text = with([](client_budgets& b) { b = {1024, 1024, 1, 1}; });
    CHECK(text == "no complaint");
}

TEST_CASE("a request limit too small for a lock, or too large for the C client, is refused") {
    client_options options;
    for (const std::size_t bytes : {0UL, 256 * 1024 - 1UL, (1UL << 30) + 1}) {
        options.max_request_bytes = bytes;
        CHECK(has(client_complaint("localhost", options), "max_request_bytes"));
    }
    for (const std::size_t bytes : {256 * 1024UL, 1UL << 30}) {
        options.max_request_bytes = bytes;
        CHECK(client_complaint("localhost", options) == "no complaint");
    }
}

TEST_CASE("values that are sent in many requests must be small") {
    client_options options;
    options.auth = {{"a", std::string(16 * 1024, 'x')}};
    CHECK(has(client_complaint("localhost", options), "auth"));
    options.auth.clear();
    options.root = '/' + std::string(512, 'x');
    CHECK(has(client_complaint("localhost", options), "root is longer"));
    mutex_options lock;
    lock.acl.assign(1000, {permission::all, "digest", "someone:secret"});
    CHECK(has(mutex_complaint("/a", lock), "acl is longer"));
}

TEST_CASE("a user without a name, or with a colon in it, is refused") {
    for (const std::string user : {"", ":", "a:b", "a:"}) {
        client_options options;
        options.auth = {{"fine", "fine"}, {user, "password"}};
        const auto text = client_complaint("localhost", options);
        CHECK(has(text, "auth"));
        CHECK(has(text, "user"));
        CHECK_FALSE(has(text, "password"));
    }
    client_options options;
    options.auth = {{"a", ""}, {"b", ":c:"}};
    CHECK(client_complaint("localhost", options) == "no complaint");
}

TEST_CASE("a malformed mutex path is refused with a message that says why") {
    for (const auto& row :
         std::initializer_list<wrong>{{"", "is empty"},
                                      {"locks/a", "does not start with '/'"},
                                      {"a", "does not start with '/'"},
                                      {"/", "reserved"},
                                      {"/locks/", "ends with '/'"},
                                      {"/locks//a", "empty component"},
                                      {"//a", "empty component"},
                                      {"/./a", "relative component"},
                                      {"/a/..", "relative component"},
                                      {"/a/../b", "relative component"},
                                      {"/a\n", "refuses at byte 2"},
                                      {"/a\x7f", "refuses at byte 2"},
                                      {"/\xc2\x85", "refuses at byte 1"},
                                      {"/a\xee\x80\x80", "refuses at byte 2"},
                                      {"/\xf0\x9f\x94\x92", "refuses at byte 1"},
                                      {std::string("/a\0", 3), "refuses at byte 2"},
                                      {"/\xff", "not valid UTF-8 at byte 1"},
                                      {"/a\xc3", "not valid UTF-8 at byte 2"},
                                      {"/\xc0\xaf", "not valid UTF-8 at byte 1"},
                                      {"/\xed\xa0\x80", "not valid UTF-8 at byte 1"},
                                      {"/zookeeper", "reserved"},
                                      {"/zookeeper/quota", "reserved"},
                                      {'/' + std::string(600, 'x'), "longer than"}}) {
        const auto& path = row.value;
        const auto& why = row.why;
        CAPTURE(path);
        const auto text = mutex_complaint(path);
        CHECK(has(text, "mutex path"));
        CHECK_MESSAGE(has(text, why), text);
    }
    for (const std::string path : {"/a", "/a/b.c", "/...", "/a b", "/zookeepers", "/a/zookeeper",
                                   "/ä\xed\x9f\xbf\xef\xa4\x80"}) {
        CAPTURE(path);
        CHECK(mutex_complaint(path) == "no complaint");
    }
}

TEST_CASE("a lock name must not contain the node names of other recipes") {
    for (const auto& row :
         std::initializer_list<wrong>{{"", "is empty"},
                                      {"a/b", "contains a '/'"},
                                      {"/", "contains a '/'"},
                                      {"a\x01", "refuses at byte 1"},
                                      {"\xff", "not valid UTF-8"},
                                      {std::string("a\0b", 3), "refuses at byte 1"},
                                      {"_c_x", "reserve"},
                                      {"lock-", "reserve"},
                                      {"a-lock-b", "reserve"},
                                      {"__lock__", "reserve"},
                                      {"__READ__", "reserve"},
                                      {"__WRIT__", "reserve"},
                                      {"__rlock__", "reserve"},
                                      {"latch-", "reserve"},
                                      {"lease-", "reserve"},
                                      {std::string(600, 'x'), "longer than"}}) {
        const auto& name = row.value;
        const auto& why = row.why;
        CAPTURE(name);
        mutex_options options;
        options.name = name;
        const auto text = mutex_complaint("/a", options);
        CHECK(has(text, "name"));
        CHECK_MESSAGE(has(text, why), text);
    }
    for (const std::string name : {"lock", "x", "ä", "my lock", "block"}) {
        CAPTURE(name);
        mutex_options options;
        options.name = name;
        CHECK(mutex_complaint("/a", options) == "no complaint");
    }
}

TEST_CASE("the label and the access control list of a mutex are checked") {
    mutex_options options;
    for (const std::string label : {"\xff", "fine\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
        options.label = label;
        const auto text = mutex_complaint("/a", options);
        CHECK(has(text, "label"));
        CHECK(has(text, "not valid UTF-8 at byte " + std::string(label[0] == 'f' ? "4" : "0")));
    }
    options.label = std::string(16 * 1024 + 1, 'x');
    CHECK(has(mutex_complaint("/a", options), "label is longer than 16 KiB"));
    options.label = "any/thing \n \"quoted\" \xf0\x9f\x94\x92";
    CHECK(mutex_complaint("/a", options) == "no complaint");
    options.acl.clear();
    CHECK(has(mutex_complaint("/a", options), "acl is empty"));
}

namespace {

template <typename Lock, typename Options>
std::string creator_complaint(const client_options& of_client, Options options) {
    options.acl = creator_acl();
    return complaint([&] {
        asio::io_context io;
        const client zk(io, "localhost", of_client);
        if constexpr (std::is_same_v<Lock, semaphore>)
            const semaphore s(zk, "/a", 1, options);
        else
            const Lock lock(zk, "/a", options);
    });
}

std::vector<std::string> creator_complaints(const client_options& of_client) {
    return {creator_complaint<mutex>(of_client, mutex_options()),
            creator_complaint<lock_family>(of_client, mutex_options()),
            creator_complaint<shared_mutex>(of_client, shared_mutex_options()),
            creator_complaint<election>(of_client, election_options()),
            creator_complaint<semaphore>(of_client, semaphore_options()),
            creator_complaint<simple_mutex>(of_client, simple_mutex_options())};
}

} // namespace

TEST_CASE("nodes for their creator alone need a client with credentials") {
    client_options of_client;
    for (const auto& text : creator_complaints(of_client)) {
        CHECK(has(text, "_options::acl is for the creator alone (creator_acl)"));
        CHECK(has(text, "client_options::auth has no credentials"));
    }
    of_client.auth.push_back({"user", "password"});
    for (const auto& text : creator_complaints(of_client))
        CHECK(text == "no complaint");
}
