// The links that the tests of ensembles and processes use.

#include "support/foreigner.hpp"
#include "support/links.hpp"
#include "support/time_scale.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

using namespace paddock::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

foreigner_options quick(std::chrono::milliseconds deadline) {
    foreigner_options options;
    options.deadline = deadline;
    return options;
}

/// A foreigner behind a link to the shared server.
struct behind_link {
    link_room room;
    tcp_link& link = room.add(shared_server().port());
    foreigner behind{link.address()};

    steady_clock::duration time_of_a_call() {
        const auto begin = steady_clock::now();
        behind.exists("/");
        return steady_clock::now() - begin;
    }
    int outcome() {
        return code_of([&] { behind.exists("/"); });
    }
};

} // namespace

TEST_CASE_FIXTURE(behind_link, "a link carries data, and can be cut") {
    for (const auto how : {cut::fin, cut::rst}) {
        foreigner other(link.address());
        CHECK(other.exists("/"));
        link.cut_all(how);
        CHECK(code_of([&] { other.exists("/"); }) == zk_code::connection_loss);
    }
    CHECK(outcome() == zk_code::connection_loss);
}

TEST_CASE_FIXTURE(behind_link, "a link that refuses keeps the connections that it has") {
    link.refuse(true);
    CHECK(outcome() == zk_code::ok);
    CHECK(code_of([&] { foreigner(link.address(), quick(1s)); }) == zk_code::connection_loss);
    link.heal();
    CHECK(foreigner(link.address()).exists("/"));
}

TEST_CASE_FIXTURE(behind_link, "a link is delayed, and slow, until it is healed") {
    link.delay(100ms);
    CHECK(time_of_a_call() >= 200ms); // there and back
    link.heal();
    link.trickle(1);
    CHECK(time_of_a_call() >= 40ms); // the bytes of a request and its reply
    link.heal();
    CHECK(time_of_a_call() < scaled(1s));
}

TEST_CASE_FIXTURE(behind_link, "a black hole holds all bytes, and releases them later") {
    const auto path = fresh_root();
    foreigner impatient(link.address(), quick(2s)), direct(shared_server().address());
    link.black_hole(true);
    CHECK(code_of([&] { impatient.create(path); }) == zk_code::operation_timeout);
    CHECK(code_of([&] { foreigner(link.address(), quick(2s)); }) == zk_code::operation_timeout);
    CHECK_FALSE(direct.exists(path));
    link.heal();
    CHECK(outcome() == zk_code::ok);
    const auto deadline = steady_clock::now() + scaled(5s);
    while (!direct.exists(path) && steady_clock::now() < deadline) {
    }
    CHECK(direct.exists(path));
}

TEST_CASE_FIXTURE(behind_link,
                  "half of a connection lives on in silence until the link is healed") {
    foreigner impatient(link.address(), quick(2s));
    link.half_open(side::server);
    CHECK(code_of([&] { impatient.exists("/"); }) == zk_code::operation_timeout);
    link.heal();
    CHECK(outcome() == zk_code::connection_loss);
}
