#pragma once

#include <paddock/znode.hpp>

#include <zookeeper/zookeeper.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::native {

node_stat from_c(const ::Stat& stat) noexcept;
acl from_c(const ::ACL_vector& entries);
int to_c(create_mode mode) noexcept;
bool has_ttl(create_mode mode) noexcept;
bool is_sequential(create_mode mode) noexcept;

/// An ACL in the C client's form. It points into `entries`, which must outlive it.
class c_acl {
public:
    explicit c_acl(const acl& entries);
    c_acl(const c_acl&) = delete;
    c_acl& operator=(const c_acl&) = delete;
    ::ACL_vector* get() noexcept { return &vector_; }

private:
    std::vector<::ACL> entries_;
    ::ACL_vector vector_{};
};

/// Data in the C client's form: never a null pointer, which would mean "no data at all".
inline const char* bytes_of(std::string_view data) noexcept {
    return data.data() != nullptr ? data.data() : "";
}

/// Whether the C client, which stores lengths as int, can process a container of this size.
template <typename Container>
bool has_c_length(const Container& all) noexcept {
    constexpr auto limit = std::size_t{1} << 30; // half of an int's: what is added still fits
    return all.size() < limit;
}
template <typename Container>
int length_of(const Container& all) noexcept {
    return static_cast<int>(all.size());
}

/// False for a text with an embedded zero, at which the C client would cut the path off.
inline bool is_c_string(const std::string& text) noexcept {
    return text.find('\0') == std::string::npos;
}

} // namespace paddock::native
