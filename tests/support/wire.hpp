#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// ZooKeeper's wire format, as much of it as the tests need. Every frame is a 4-byte length and that
// many bytes; numbers are big-endian; strings and buffers are a 4-byte length and their bytes.

namespace paddock::test {

namespace opcode {
inline constexpr std::int32_t notification = 0, create = 1, remove = 2, exists = 3, get = 4,
                              set = 5, get_acl = 6, set_acl = 7, children = 8, sync = 9, ping = 11,
                              children2 = 12, check = 13, multi = 14, create2 = 15,
                              check_watches = 17, remove_watches = 18, create_container = 19,
                              create_ttl = 21, multi_read = 22, auth = 100, set_watches = 101,
                              set_watches2 = 105, add_watch = 106, create_session = -10,
                              close_session = -11;
} // namespace opcode

/// The xids that are not the number of a request.
namespace special_xid {
inline constexpr std::int32_t notification = -1, ping = -2, auth = -4, set_watches = -8;
} // namespace special_xid

/// The error codes that tests look for; the numbers are ZooKeeper's.
namespace zk_code {
inline constexpr int ok = 0, connection_loss = -4, operation_timeout = -7, bad_arguments = -8,
                     no_node = -101, no_auth = -102, bad_version = -103,
                     no_children_for_ephemerals = -108, node_exists = -110, not_empty = -111,
                     session_expired = -112, invalid_acl = -114, auth_failed = -115;
} // namespace zk_code

/// What a client needs to attach to a session.
struct credentials {
    std::int64_t session_id = 0;
    std::array<std::uint8_t, 16> password{};
    /// As the server granted it.
    std::chrono::milliseconds timeout{0};
};

/// Builds one frame.
class jute_writer {
public:
    jute_writer& int32(std::int32_t value) { return number(static_cast<std::uint32_t>(value), 4); }
    jute_writer& int64(std::int64_t value) { return number(static_cast<std::uint64_t>(value), 8); }
    jute_writer& boolean(bool value) { return number(value ? 1U : 0U, 1); }
    jute_writer& string(std::string_view value) {
        int32(static_cast<std::int32_t>(value.size()));
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        return *this;
    }
    jute_writer& raw(std::span<const std::uint8_t> value) {
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        return *this;
    }
    const std::vector<std::uint8_t>& content() const { return bytes_; }
    /// The content with its length in front.
    std::vector<std::uint8_t> frame() const {
        jute_writer whole;
        whole.int32(static_cast<std::int32_t>(bytes_.size())).raw(bytes_);
        return whole.bytes_;
    }

private:
    jute_writer& number(std::uint64_t value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
        }
        return *this;
    }

    std::vector<std::uint8_t> bytes_;
};

/// Reads the content of one frame, without its length; throws where it ends too early.
class jute_reader {
public:
    explicit jute_reader(std::span<const std::uint8_t> content) : rest_(content) {}

    std::int32_t int32() { return static_cast<std::int32_t>(number(4)); }
    std::int64_t int64() { return static_cast<std::int64_t>(number(8)); }
    bool boolean() { return number(1) != 0; }
    std::string string() {
        const std::int32_t size = int32();
        if (size <= 0) {
            return {};
        } // -1 stands for "none"
        const auto part = take(static_cast<std::size_t>(size));
        return {part.begin(), part.end()};
    }
    std::span<const std::uint8_t> take(std::size_t size) {
        if (size > rest_.size()) {
            throw std::out_of_range("a ZooKeeper frame ends too early");
        }
        const auto part = rest_.first(size);
        rest_ = rest_.subspan(size);
        return part;
    }

private:
    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        for (const std::uint8_t byte : take(width)) {
            value = value << 8 | byte;
        }
        return value;
    }

    std::span<const std::uint8_t> rest_;
};

/// The body of a ConnectResponse. A session id of 0 means that the session is over.
inline credentials read_credentials(jute_reader reader) {
    credentials result;
    reader.int32(); // protocol version
    result.timeout = std::chrono::milliseconds(reader.int32());
    result.session_id = reader.int64();
    const auto size = static_cast<std::size_t>(reader.int32());
    const auto password = reader.take(size);
    for (std::size_t i = 0; i < size && i < result.password.size(); ++i) {
        result.password[i] = password[i];
    }
    return result;
}

inline jute_writer connect_request(const credentials& session) {
    jute_writer request;
    request.int32(0).int64(0).int32(static_cast<std::int32_t>(session.timeout.count()));
    request.int64(session.session_id);
    request.int32(static_cast<std::int32_t>(session.password.size())).raw(session.password);
    request.boolean(false);
    return request;
}

} // namespace paddock::test
