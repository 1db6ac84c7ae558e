#pragma once

#include "native/calls.hpp"

#include <zookeeper/zookeeper.h>

/// The functions that the C client calls with its answers. `data` is the completion, which each of
/// them calls and destroys.
namespace paddock::native::replies {

void of_void(int rc, const void* data) noexcept;
void of_stat(int rc, const ::Stat* stat, const void* data) noexcept;
void of_data(int rc, const char* value, int length, const ::Stat* stat, const void* data) noexcept;
void of_names(int rc, const ::String_vector* names, const ::Stat* stat, const void* data) noexcept;
void of_string(int rc, const char* value, const void* data) noexcept;
void of_create(int rc, const char* value, const ::Stat* stat, const void* data) noexcept;
void of_acl(int rc, ::ACL_vector* entries, ::Stat* stat, const void* data) noexcept;

} // namespace paddock::native::replies
