// The one table of errors: every code of the C client, for every kind of request.

#include "rules/outcome.hpp"

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace paddock::rules;
using paddock::zk_errc;

namespace {

struct row {
    zk_errc code;
    outcome create, list, look, remove;
};

constexpr auto done = outcome::done, missing = outcome::missing, lost = outcome::lost,
               not_sent = outcome::not_sent, later = outcome::later, rarely = outcome::rarely,
               refused = outcome::refused;

// clang-format off
constexpr row table[] = {
    {zk_errc{0},                             done,     done,     done,     done},
    {zk_errc::system_error,                  refused,  refused,  later,    later},
    {zk_errc::runtime_inconsistency,         lost,     lost,     lost,     lost},
    {zk_errc::data_inconsistency,            refused,  refused,  later,    later},
    {zk_errc::connection_loss,               lost,     lost,     lost,     lost},
    {zk_errc::marshalling_error,             refused,  refused,  later,    later},
    {zk_errc::unimplemented,                 refused,  refused,  later,    later},
    {zk_errc::operation_timeout,             lost,     lost,     lost,     lost},
    {zk_errc::bad_arguments,                 refused,  refused,  later,    later},
    {zk_errc::invalid_state,                 not_sent, not_sent, not_sent, not_sent},
    {zk_errc::no_node,                       missing,  missing,  missing,  done},
    {zk_errc::no_auth,                       refused,  refused,  refused,  rarely},
    {zk_errc::bad_version,                   refused,  refused,  later,    later},
    {zk_errc::no_children_for_ephemerals,    refused,  refused,  later,    later},
    {zk_errc::node_exists,                   refused,  refused,  later,    later},
    {zk_errc::not_empty,                     refused,  refused,  later,    later},
    {zk_errc::session_expired,               lost,     lost,     lost,     lost},
    {zk_errc::invalid_callback,              refused,  refused,  later,    later},
    {zk_errc::invalid_acl,                   refused,  refused,  later,    later},
    {zk_errc::auth_failed,                   lost,     lost,     lost,     lost},
    {zk_errc::closing,                       lost,     lost,     lost,     lost},
    {zk_errc::session_moved,                 lost,     lost,     lost,     lost},
    {zk_errc::not_read_only,                 later,    later,    later,    later},
    {zk_errc::ephemeral_on_local_session,    refused,  refused,  later,    later},
    {zk_errc::no_watcher,                    refused,  refused,  later,    later},
    {zk_errc::reconfig_disabled,             refused,  refused,  later,    later},
    {zk_errc::throttled,                     later,    later,    later,    later},
    {zk_errc{-125},                          refused,  refused,  later,    later}, // quota
    {zk_errc{-4242},                         refused,  refused,  later,    later}, // unknown
};
// clang-format on

} // namespace

TEST_CASE("every code has one outcome for each kind of request") {
    for (const auto& r : table) {
        const int code = static_cast<int>(r.code);
        CAPTURE(code);
        CHECK(judge(request_kind::create, code) == r.create);
        CHECK(judge(request_kind::list, code) == r.list);
        CHECK(judge(request_kind::look, code) == r.look);
        CHECK(judge(request_kind::remove, code) == r.remove);
    }
}

TEST_CASE("a delete is repeated until the node is gone, whatever the ensemble answers") {
    for (int code = -1000; code <= 0; ++code) {
        CAPTURE(code);
        CHECK(judge(request_kind::remove, code) != outcome::refused);
        CHECK(judge(request_kind::remove, code) != outcome::missing);
    }
}

TEST_CASE("only success counts as done, except the delete of a missing node") {
    for (int code = -1000; code < 0; ++code) {
        CAPTURE(code);
        for (const auto what : {request_kind::create, request_kind::list, request_kind::look})
            CHECK(judge(what, code) != outcome::done);
        CHECK((judge(request_kind::remove, code) == outcome::done) ==
              (code == static_cast<int>(zk_errc::no_node)));
    }
}

TEST_CASE("a write has a quorum when it was executed, or refused because of the tree's state") {
    const std::set<zk_errc> by_the_tree{zk_errc::no_node,     zk_errc::no_auth,
                                        zk_errc::bad_version, zk_errc::no_children_for_ephemerals,
                                        zk_errc::node_exists, zk_errc::not_empty};
    CHECK(agreed(0));
    for (int code = -1000; code < 0; ++code) {
        CAPTURE(code);
        CHECK(agreed(code) == by_the_tree.contains(zk_errc{code}));
    }
}

TEST_CASE("a request that was lost with the connection does not end the session") {
    const std::set<zk_errc> of_the_session{zk_errc::closing, zk_errc::session_moved,
                                           zk_errc::session_expired, zk_errc::auth_failed};
    for (int code = -1000; code <= 0; ++code) {
        CAPTURE(code);
        const auto what = judge(request_kind::list, code);
        const bool over = of_the_session.contains(zk_errc{code});
        CHECK(connection_lost(code) ==
              (!over && (what == outcome::lost || what == outcome::not_sent)));
    }
}
