// What follows from the value of a request.

#include "session/request.hpp"
#include "support/session_stage.hpp"

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;
using detail::answered_by;
using detail::request;
namespace requests = detail::requests;

namespace {

const auto persistent = requests::share({});
const std::vector<operation> two_steps{op::check{"/a", 1}, op::remove{"/b", any_version}};

struct expectation {
    request what;
    answered_by by;
    std::string call; ///< as the scripted C client logs it
};

const std::vector<expectation> all{
    {requests::create{"/a", "data", persistent}, answered_by::quorum, "create /a"},
    {requests::remove{"/a"}, answered_by::quorum, "remove /a"},
    {requests::get{"/a", true}, answered_by::server, "get /a"},
    {requests::exists{"/a"}, answered_by::server, "exists /a"},
    {requests::list{"/a"}, answered_by::server, "children /a"},
    {requests::set{"/a", "data"}, answered_by::quorum, "set /a"},
    {requests::sync{"/a"}, answered_by::leader, "sync /a"},
    {requests::get_acl{"/a"}, answered_by::server, "get_acl /a"},
    {requests::set_acl{"/a", open_acl()}, answered_by::quorum, "set_acl /a"},
    {requests::multi{two_steps}, answered_by::quorum, "multi /a /b"},
    {requests::remove_watches{"/a"}, answered_by::server, "remove_watches /a"}};

/// The number of bytes by which a longer path makes a request larger.
template <typename Request>
std::size_t growth(Request longer) {
    const auto before = detail::bytes_of(longer);
    longer.path += std::string(100, 'x');
    return detail::bytes_of(longer) - before;
}

} // namespace

TEST_CASE(
    "every kind of request says whether a quorum answers it, and makes the call of its name") {
    CHECK(all.size() == std::variant_size_v<request>);
    session_stage s;
    for (const auto& one : all) {
        CAPTURE(one.call);
        CHECK(detail::answered(one.what) == one.by);
        s.asked();
        s.core->dispatcher().submit(detail::lane::user, one.what, [](const native::reply&) {});
        CHECK(s.asked() == std::vector{one.call});
        s.answer();
    }
}

TEST_CASE("paths, data and access control lists count for the size of a request") {
    CHECK(growth(requests::exists{"/a"}) == 100);
    CHECK(growth(requests::create{"/a", "", persistent}) == 100);
    const auto bytes = [](const request& what) { return detail::bytes_of(what); };
    const std::string data(1000, 'x');
    CHECK(bytes(requests::create{"/a", data, persistent}) ==
          bytes(requests::create{"/a", "", persistent}) + 1000);
    CHECK(bytes(requests::set{"/a", data}) == bytes(requests::set{"/a", ""}) + 1000);
    CHECK(bytes(requests::set_acl{"/a", open_acl()}) > bytes(requests::set_acl{"/a", {}}));
    CHECK(bytes(requests::multi{two_steps}) > bytes(requests::multi{{two_steps[0]}}));
}
