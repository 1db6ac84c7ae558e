#include "session/request.hpp"

#include "rules/request_bytes.hpp"

#include <array>
#include <utility>

namespace paddock::detail {

namespace {

using native::calls;

answered_by answered_of(const requests::get&) { return answered_by::server; }
answered_by answered_of(const requests::exists&) { return answered_by::server; }
answered_by answered_of(const requests::list&) { return answered_by::server; }
answered_by answered_of(const requests::get_acl&) { return answered_by::server; }
answered_by answered_of(const requests::remove_watches&) { return answered_by::server; }
answered_by answered_of(const requests::sync&) { return answered_by::leader; }
template <typename Write>
answered_by answered_of(const Write&) {
    return answered_by::quorum;
}

std::size_t bytes(const requests::create& r) {
    return rules::request_bytes(r.path, r.data, r.how->acl);
}
std::size_t bytes(const requests::set& r) { return rules::request_bytes(r.path, r.data); }
std::size_t bytes(const requests::set_acl& r) {
    return rules::request_bytes(r.path, {}, r.entries);
}
std::size_t bytes(const requests::multi& r) { return rules::request_bytes(r.steps); }
template <typename PathAlone>
std::size_t bytes(const PathAlone& r) {
    return rules::request_bytes(r.path);
}

int send_as(const requests::create& r, calls& c, calls::done d) {
    return c.create(r.path, r.data, *r.how, std::move(d));
}
int send_as(const requests::remove& r, calls& c, calls::done d) {
    return c.remove(r.path, r.version, std::move(d));
}
int send_as(const requests::get& r, calls& c, calls::done d) {
    return c.get(r.path, r.watch, std::move(d));
}
int send_as(const requests::exists& r, calls& c, calls::done d) {
    return c.exists(r.path, r.watch, std::move(d));
}
int send_as(const requests::list& r, calls& c, calls::done d) {
    return c.children(r.path, r.watch, std::move(d));
}
int send_as(const requests::set& r, calls& c, calls::done d) {
    return c.set(r.path, r.data, r.version, std::move(d));
}
int send_as(const requests::sync& r, calls& c, calls::done d) {
    return c.sync(r.path, std::move(d));
}
int send_as(const requests::get_acl& r, calls& c, calls::done d) {
    return c.get_acl(r.path, std::move(d));
}
int send_as(const requests::set_acl& r, calls& c, calls::done d) {
    return c.set_acl(r.path, r.entries, r.version, std::move(d));
}
int send_as(const requests::multi& r, calls& c, calls::done d) {
    return c.multi(r.steps, std::move(d));
}
int send_as(const requests::remove_watches& r, calls& c, calls::done d) {
    return c.remove_watches(r.path, std::move(d));
}

} // namespace

answered_by answered(const request& what) {
    return std::visit([](const auto& r) { return answered_of(r); }, what);
}

std::string_view name_of(const request& what) noexcept {
    static constexpr std::array<std::string_view, std::variant_size_v<request>> names{
        "create", "delete", "get",    "exists", "list",          "set",
        "sync",   "getAcl", "setAcl", "multi",  "removeWatches",
    };
    return names[what.index()];
}

std::size_t bytes_of(const request& what) {
    return std::visit([](const auto& r) { return bytes(r); }, what);
}

int send(const request& what, native::calls& table, native::calls::done reply_to) {
    return std::visit([&](const auto& r) { return send_as(r, table, std::move(reply_to)); }, what);
}

} // namespace paddock::detail
