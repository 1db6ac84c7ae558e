#include "native/c_replies.hpp"

#include "native/c_convert.hpp"
#include "native/c_lock.hpp"

#include <optional>

namespace paddock::native::replies {

namespace {

std::optional<node_stat> stat_of(int rc, const ::Stat* stat) noexcept {
    if (rc != ZOK || stat == nullptr) return std::nullopt;
    return from_c(*stat);
}

void deliver(const void* data, const reply& answer) noexcept {
    const outside_c without_lock;
    const std::unique_ptr<completion> reply_to(static_cast<completion*>(const_cast<void*>(data)));
    reply_to->complete(answer);
}

void deliver(const void* data, int rc, const char* value, const ::Stat* stat) noexcept {
    const std::optional<node_stat> converted = stat_of(rc, stat);
    reply answer{.rc = rc, .stat = converted ? &*converted : nullptr};
    if (rc == ZOK && value != nullptr) answer.value = value;
    deliver(data, answer);
}

} // namespace

void of_void(int rc, const void* data) noexcept { deliver(data, rc, nullptr, nullptr); }

void of_stat(int rc, const ::Stat* stat, const void* data) noexcept {
    deliver(data, rc, nullptr, stat);
}

void of_string(int rc, const char* value, const void* data) noexcept {
    deliver(data, rc, value, nullptr);
}

void of_create(int rc, const char* value, const ::Stat* stat, const void* data) noexcept {
    deliver(data, rc, value, stat);
}

void of_data(int rc, const char* value, int length, const ::Stat* stat, const void* data) noexcept {
    const std::optional<node_stat> converted = stat_of(rc, stat);
    reply answer{.rc = rc, .stat = converted ? &*converted : nullptr};
    // The value is no C string; a node without data has a null pointer and the length -1.
    if (value != nullptr && length > 0) answer.value = {value, static_cast<std::size_t>(length)};
    deliver(data, answer);
}

void of_names(int rc, const ::String_vector* names, const ::Stat* stat, const void* data) noexcept {
    const std::optional<node_stat> converted = stat_of(rc, stat);
    reply answer{.rc = rc, .stat = converted ? &*converted : nullptr};
    if (rc == ZOK && names != nullptr && names->count > 0)
        answer.names = {names->data, static_cast<std::size_t>(names->count)};
    deliver(data, answer);
}

void of_acl(int rc, ::ACL_vector* entries, ::Stat* stat, const void* data) noexcept {
    const std::optional<node_stat> converted = stat_of(rc, stat);
    acl list;
    if (rc == ZOK && entries != nullptr) list = from_c(*entries);
    deliver(data, reply{.rc = rc, .stat = converted ? &*converted : nullptr, .entries = list});
}

} // namespace paddock::native::replies
