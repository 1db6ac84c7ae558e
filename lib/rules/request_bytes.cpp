#include "rules/request_bytes.hpp"

#include <variant>

namespace paddock::rules {

namespace {

// jute, ZooKeeper's serialization: a length precedes each field of variable size, and every other
// field is at most as wide as a long.
constexpr std::size_t header = 8;        // xid and type
constexpr std::size_t step_header = 9;   // type, a flag for the last step, an error
constexpr std::size_t fixed_fields = 16; // a watch flag; or flags and TTL; or a version

constexpr std::size_t permissions_field = 4;

std::size_t text(std::string_view one) noexcept { return length_field + one.size(); }

std::size_t list(const acl& entries) noexcept {
    std::size_t bytes = length_field;
    for (const auto& one : entries)
        bytes += permissions_field + text(one.scheme) + text(one.id);
    return bytes;
}

std::size_t body(const op::create& step) noexcept {
    return text(step.path) + text(step.data) + list(step.acl);
}
std::size_t body(const op::set& step) noexcept { return text(step.path) + text(step.data); }
std::size_t body(const op::remove& step) noexcept { return text(step.path); }
std::size_t body(const op::check& step) noexcept { return text(step.path); }

} // namespace

std::size_t request_bytes(std::string_view path, std::string_view data, const acl& entries) {
    return header + text(path) + text(data) + list(entries) + fixed_fields;
}

std::size_t request_bytes(std::span<const operation> steps) {
    std::size_t bytes = header + step_header; // the last step header marks the end
    for (const auto& step : steps)
        bytes += step_header + fixed_fields +
                 std::visit([](const auto& one) { return body(one); }, step);
    return bytes;
}

} // namespace paddock::rules
