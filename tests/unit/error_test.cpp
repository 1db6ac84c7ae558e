// Errors: each has a text of its own, and numbers that never change.

#include <paddock/error.hpp>

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <set>
#include <string>
#include <type_traits>

using namespace paddock;

namespace {

constexpr errc all_errors[] = {
    errc::bad_argument,   errc::not_connected,      errc::session_expired,  errc::outcome_unknown,
    errc::closed,         errc::lock_lost,          errc::node_deleted,     errc::released,
    errc::auth_failed,    errc::sequence_exhausted, errc::over_budget,      errc::revoked,
    errc::would_deadlock, errc::lease_lapsed,       errc::wrong_c_client,   errc::hold_expired,
    errc::not_supported,  errc::unsuitable_server,  errc::options_mismatch, errc::no_root,
    errc::draining};

constexpr zk_errc all_codes[] = {zk_errc::system_error,
                                 zk_errc::runtime_inconsistency,
                                 zk_errc::data_inconsistency,
                                 zk_errc::connection_loss,
                                 zk_errc::marshalling_error,
                                 zk_errc::unimplemented,
                                 zk_errc::operation_timeout,
                                 zk_errc::bad_arguments,
                                 zk_errc::invalid_state,
                                 zk_errc::new_config_no_quorum,
                                 zk_errc::reconfig_in_progress,
                                 zk_errc::ssl_connection_error,
                                 zk_errc::api_error,
                                 zk_errc::no_node,
                                 zk_errc::no_auth,
                                 zk_errc::bad_version,
                                 zk_errc::no_children_for_ephemerals,
                                 zk_errc::node_exists,
                                 zk_errc::not_empty,
                                 zk_errc::session_expired,
                                 zk_errc::invalid_callback,
                                 zk_errc::invalid_acl,
                                 zk_errc::auth_failed,
                                 zk_errc::closing,
                                 zk_errc::nothing,
                                 zk_errc::session_moved,
                                 zk_errc::not_read_only,
                                 zk_errc::ephemeral_on_local_session,
                                 zk_errc::no_watcher,
                                 zk_errc::reconfig_disabled,
                                 zk_errc::session_closed_require_sasl_auth,
                                 zk_errc::quota_exceeded,
                                 zk_errc::throttled};

} // namespace

TEST_CASE("every error of paddock has a text of its own") {
    std::set<std::string> texts;
    for (const auto code : all_errors)
        texts.insert(error_code(code).message());
    CHECK(texts.size() == std::size(all_errors));
    CHECK_FALSE(texts.contains(""));
}

TEST_CASE("this test covers every error of paddock: they count from 1 without a gap") {
    for (int code = 1; code <= static_cast<int>(std::size(all_errors)); ++code)
        CHECK_FALSE(paddock_category().message(code).starts_with("unknown error"));
    CHECK(paddock_category().message(std::size(all_errors) + 1).starts_with("unknown error"));
}

TEST_CASE("a number that no one knows is shown, and zero is no error") {
    CHECK(error_code(77, paddock_category()).message() == "unknown error 77");
    CHECK(error_code(-200, zookeeper_category()).message() == "unknown ZooKeeper error -200");
    CHECK(condition_category().message(77) == "unknown condition 77");
    CHECK(error_code(0, paddock_category()).message() == "success");
    CHECK(error_code(0, zookeeper_category()).message() == "success");
}

TEST_CASE("every listed code of ZooKeeper has a text of its own") {
    std::set<std::string> texts;
    for (const auto code : all_codes)
        texts.insert(error_code(code).message());
    CHECK(texts.size() == std::size(all_codes));
    std::size_t known = 0;
    for (int code = -1000; code < 0; ++code) {
        const auto text = zookeeper_category().message(code);
        if (text == "unknown ZooKeeper error " + std::to_string(code)) continue;
        ++known;
        CHECK(texts.contains(text));
    }
    CHECK(known == std::size(all_codes));
}

TEST_CASE("the categories have names, and ids that make them equal across copies of the library") {
    CHECK(std::string(paddock_category().name()) == "paddock");
    CHECK(std::string(zookeeper_category().name()) == "zookeeper");
    CHECK(paddock_category() != zookeeper_category());
    struct copy : boost::system::error_category {
        explicit copy(boost::ulong_long_type id) : error_category(id) {}
        const char* name() const noexcept override { return "copy"; }
        std::string message(int) const override { return {}; }
    };
    CHECK(paddock_category() == copy(0x9f2d'7a41'c36e'58b0));
    CHECK(zookeeper_category() == copy(0x9f2d'7a41'c36e'58b1));
}

TEST_CASE("the numbers of ZooKeeper's codes are ZooKeeper's") {
    CHECK(error_code(zk_errc::no_node).value() == -101);
    CHECK(error_code(zk_errc::connection_loss).value() == -4);
    CHECK(error_code(zk_errc::session_expired).value() == -112);
    CHECK(error_code(zk_errc::throttled).value() == -127);
    CHECK(error_code(zk_errc::quota_exceeded).value() == -125);
}

TEST_CASE("an enumerator becomes an error code by itself, and compares") {
    const error_code lost = errc::lock_lost;
    CHECK(lost == errc::lock_lost);
    CHECK(lost != errc::node_deleted);
    CHECK(lost.category() == paddock_category());
    CHECK(error_code(errc::session_expired) != error_code(zk_errc::session_expired));
    CHECK(lost.failed());
    CHECK(error_code(zk_errc::no_node).failed());
    CHECK_FALSE(error_code().failed());
}

TEST_CASE("cancellation is Asio's operation_aborted, and nothing else is") {
    const error_code aborted = asio::error::operation_aborted;
    CHECK(aborted.category() != paddock_category());
    for (const auto code : all_errors)
        CHECK_FALSE(error_code(code) == aborted);
    for (const auto code : all_codes)
        CHECK_FALSE(error_code(code) == aborted);
    for (const auto code : all_errors)
        CHECK(error_code(code).default_error_condition() !=
              boost::system::errc::operation_canceled);
}

TEST_CASE("the text of a bad argument's exception is its sentence, and nothing else") {
    const bad_argument_error problem("path 'a' does not start with '/'");
    CHECK(problem.code() == errc::bad_argument);
    CHECK(std::string(problem.what()) == "path 'a' does not start with '/'");
    const auto copy = std::make_exception_ptr(problem);
    try {
        std::rethrow_exception(copy);
    } catch (const system_error& caught) {
        CHECK(caught.code() == errc::bad_argument);
        CHECK(std::string(caught.what()) == problem.what());
    }
    static_assert(std::is_nothrow_copy_constructible_v<bad_argument_error>);
    static_assert(std::is_nothrow_copy_assignable_v<bad_argument_error>);
}

TEST_CASE("a condition stands for all codes that mean it, and for no other") {
    const auto lost = {error_code(errc::lock_lost),    error_code(errc::node_deleted),
                       error_code(errc::revoked),      error_code(errc::lease_lapsed),
                       error_code(errc::hold_expired), error_code(errc::session_expired)};
    for (const auto& one : lost)
        CHECK(one == condition::lock_lost);
    for (const auto code : {errc::released, errc::not_connected, errc::closed})
        CHECK(error_code(code) != condition::lock_lost);
    CHECK(error_code(zk_errc::session_expired) == condition::session_expired);
    CHECK(error_code(errc::session_expired) == condition::session_expired);
    CHECK(error_code(errc::not_connected) == condition::transient);
    CHECK(error_code(errc::outcome_unknown) != condition::transient);
    CHECK(error_code(zk_errc::connection_loss) == condition::outcome_unknown);
    CHECK(error_code(zk_errc::auth_failed) == condition::auth_failed);
    CHECK(error_code(errc::auth_failed) == condition::closed);
    CHECK(error_code(zk_errc::session_closed_require_sasl_auth) == condition::auth_failed);
    CHECK(error_code(zk_errc::session_closed_require_sasl_auth) == condition::closed);
    CHECK(error_code(zk_errc::no_auth) == condition::not_permitted);
    CHECK(error_code(zk_errc::bad_arguments) == condition::bad_argument);
    CHECK(error_code(asio::error::operation_aborted) == condition::cancelled);
}

TEST_CASE("success meets no condition, and every condition has a text and a code that meets it") {
    std::set<std::string> texts;
    for (int which = 1; which <= 9; ++which) {
        const auto what = static_cast<condition>(which);
        CHECK(error_code() != what);
        texts.insert(make_error_condition(what).message());
        int met = error_code(asio::error::operation_aborted) == what ? 1 : 0;
        for (const auto code : all_errors)
            met += error_code(code) == what ? 1 : 0;
        for (const auto code : all_codes)
            met += error_code(code) == what ? 1 : 0;
        CHECK(met > 0);
    }
    CHECK(texts.size() == 9);
    for (const auto& text : texts)
        CHECK_FALSE(text.starts_with("unknown condition"));
}
