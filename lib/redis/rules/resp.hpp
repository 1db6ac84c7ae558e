#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::redis::rules {

/// One reply of a Redis server, as RESP2 (https://redis.io/docs/reference/protocol-spec) has it.
struct reply {
    enum class kind { nothing, status, error, number, text, list };

    kind what = kind::nothing; ///< a null bulk string or list is `nothing`
    std::string text;          ///< of a status, an error and a text
    std::int64_t number = 0;
    std::vector<reply> items;

    bool is_error() const noexcept { return what == kind::error; }

    friend bool operator==(const reply&, const reply&) = default;
};

/// Appends a command to what is to be sent: a list of bulk strings.
void append_command(std::string& out, std::initializer_list<std::string_view> words);
void append_command(std::string& out, const std::vector<std::string>& words);

/// Splits what a server sends into replies. The server is trusted to be a Redis server, and not to
/// be a healthy one: what no reply to a lock's commands can be is a fault, long before it needs
/// memory.
class reply_reader {
public:
    // The largest replies are a section of INFO (some KiB), and a flat list of a few words.
    static constexpr std::size_t max_bytes = 64 * 1024; ///< of one reply
    static constexpr std::size_t max_items = 64;        ///< of one list
    static constexpr int max_depth = 2;                 ///< a list of lists

    void feed(std::string_view bytes);
    /// The next reply; none if more bytes are needed, or after a fault.
    std::optional<reply> next();
    /// Why the bytes are no replies; else empty. The connection is of no use then.
    const std::string& fault() const noexcept { return fault_; }

private:
    struct cursor;
    bool read(cursor& at, reply& out, int depth);
    bool read_text(cursor& at, reply& out);
    bool read_list(cursor& at, reply& out, int depth);
    std::optional<std::int64_t> number_of(std::string_view digits);
    bool fail(std::string_view why);

    std::string bytes_;
    std::size_t taken_ = 0; ///< these bytes were replies
    std::string fault_;
};

} // namespace paddock::redis::rules
