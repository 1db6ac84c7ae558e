#pragma once

#include <paddock/detail/cpp20.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace paddock {

/// A fencing token: it grows with every exclusive hold of a lock, for a store that remembers the
/// largest one. Claim, then read: raise the stored token to your own (the store refuses if its
/// token is larger), read, and write only where the stored token equals your own.
///
/// Tokens are ordered by `zxid`, then by `sub`. **Store both numbers, or the text of to_string(),
/// which sorts as the tokens do: `zxid` alone fences nothing.** Holds of one lock whose calls came
/// together have the same `zxid`, and so do the holds of a sticky lock.
///
/// Compare only tokens of one lock: a token is as old as the call's place in the queue, so a later
/// hold of another lock can have a smaller one. On ZooKeeper they outlive the lock's directory, and
/// start again when the ensemble is set up anew or restored from a backup. redis::mutex says what
/// they survive on Redis.
struct fencing_token {
    /// The `czxid` of the lock's node: the transaction that created it, perhaps with the nodes of
    /// other calls for the same lock; so it is half of a token. On Redis: one more than the
    /// counter of the lock, and at least the server's time in microseconds since 1970.
    std::int64_t zxid = 0;
    /// The upper 32 bits are the node's sequence number (0 for a simple_mutex, and on Redis), the
    /// lower 32 bits count the holds that had the node (the keys) before this one. Both numbers fit
    /// into signed 64 bits.
    std::uint64_t sub = 0;

    friend auto operator<=>(const fencing_token&, const fencing_token&) = default;
};

/// The text form: 32 lower-case hexadecimal digits, 16 for zxid and 16 for sub.
[[gnu::visibility("default")]] std::string to_string(const fencing_token& token);

inline std::ostream& operator<<(std::ostream& out, const fencing_token& token) {
    return out << to_string(token);
}

/// Reads the text form; nothing for any other text.
[[gnu::visibility("default")]] std::optional<fencing_token>
parse_fencing_token(std::string_view text) noexcept;

} // namespace paddock
