// Values of enumerations that are none of their enumerators, as a cast or damaged memory makes
// them: each is refused, and the member is named, before anything is sent.

#include "unit/complaint.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <string>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int outside[] = {-1, 100};

/// What the constructor of a lock says to options with a wrong value of `member`.
template <typename Lock, typename Options, typename Enum, typename... More>
void check_member(Enum Options::*member, const std::string& name, More... more) {
    for (const int number : outside) {
        CAPTURE(name);
        CAPTURE(number);
        Options options;
        options.*member = static_cast<Enum>(number);
        const auto text = complaint([&] {
            asio::io_context io;
            const client zk(io, "127.0.0.1:1");
            const Lock lock(zk, "/a", more..., options);
        });
        CHECK(text == name + " is none of its enumerators");
    }
}

template <typename Lock, typename Options, typename... More>
void check_choices(const std::string& options, More... more) {
    check_member<Lock>(&Options::on_expiry, options + "::on_expiry", more...);
    check_member<Lock>(&Options::on_over_budget, options + "::on_over_budget", more...);
    Options rights;
    rights.acl = {acl_entry{static_cast<permission>(32)}};
    const auto text = complaint([&] {
        asio::io_context io;
        const client zk(io, "127.0.0.1:1");
        const Lock lock(zk, "/a", more..., rights);
    });
    CHECK(text == options + "::acl has a permission that does not exist");
}

/// The text of the error with which an operation completes; nothing may be sent.
template <typename Start>
std::string refusal_of(Start start) {
    asio::io_context io;
    std::string text = "is not complete";
    client zk(io, "127.0.0.1:1");
    start(zk, [&](error_code why, auto&&...) {
        CHECK(why == errc::bad_argument);
        text = why.message();
    });
    io.poll();
    CHECK(zk.state() == client_state::connecting);
    return text;
}

} // namespace

TEST_CASE("an enumerator that does not exist is refused in the options of every lock") {
    check_member<mutex>(&mutex_options::naming, "mutex_options::naming");
    check_choices<mutex, mutex_options>("mutex_options");
    check_choices<recursive_mutex, mutex_options>("mutex_options");
    check_choices<lock_family, mutex_options>("mutex_options");
    check_choices<shared_mutex, shared_mutex_options>("shared_mutex_options");
    check_choices<recursive_shared_mutex, shared_mutex_options>("shared_mutex_options");
    check_choices<shared_lock_family, shared_mutex_options>("shared_mutex_options");
    check_choices<election, election_options>("election_options");
    check_choices<semaphore, semaphore_options>("semaphore_options", 1);
    check_choices<simple_mutex, simple_mutex_options>("simple_mutex_options");
}

TEST_CASE("a lease proof that does not exist is refused") {
    for (const int number : outside) {
        client_options options;
        options.lease.proof = static_cast<lease_proof>(number);
        const auto text = complaint([&] {
            asio::io_context io;
            const client zk(io, "127.0.0.1:1", options);
        });
        CHECK(text == "lease.proof is none of its enumerators");
    }
}

TEST_CASE("a create mode that does not exist is refused, alone and in a multi") {
    for (const int number : outside) {
        const auto mode = static_cast<create_mode>(number);
        CHECK(refusal_of([&](client& zk, auto token) {
                  zk.create("/a", "", create_options{.mode = mode}, token);
              }) == "create_options::mode is none of its enumerators");
        CHECK(refusal_of([&](client& zk, auto token) {
                  zk.multi({op::create{"/a", "", mode}}, token);
              }) == "op::create::mode is none that a multi can have");
    }
}

TEST_CASE("a permission that does not exist is refused") {
    const acl wrong{acl_entry{}, acl_entry{static_cast<permission>(32)}};
    const std::string why = " has a permission that does not exist";
    CHECK(refusal_of([&](client& zk, auto token) {
              zk.create("/a", "", create_options{.acl = wrong}, token);
          }) == "create_options::acl" + why);
    CHECK(refusal_of([&](client& zk, auto token) {
              zk.multi({op::create{"/a", "", create_mode::persistent, wrong}}, token);
          }) == "op::create::acl" + why);
    CHECK(refusal_of([&](client& zk, auto token) {
              zk.set_acl("/a", wrong, any_version, token);
          }) == "acl" + why);
}

TEST_CASE("a client state that does not exist is refused") {
    for (const int number : outside)
        CHECK(refusal_of([&](client& zk, auto token) {
                  zk.next_state(static_cast<client_state>(number), token);
              }) == "seen is none of its enumerators");
}
