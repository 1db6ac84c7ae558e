#pragma once

#include "redis/rules/resp.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::redis::rules {

/// What every client of these servers must agree on; it stands in each server's marker.
struct deployment {
    /// The longest time to live that any lock of these servers may have. A server that perhaps has
    /// lost its data takes no part in a grant until all locks that it may have forgotten are over.
    std::chrono::milliseconds max_ttl{60'000};
    int servers = 1;
    /// The servers have just been set up, and no lock can be forgotten: they are not waited for.
    bool trusts_new_servers = false;
    /// The one that the client uses on this server.
    int database = 0;
};

/// The keys of one lock on a server.
///
/// `name` itself is a plain string with a time to live, as other lock libraries have it that use
/// SET with NX. Beside it are `paddock:token:<name>`, the counter of its fencing tokens, the
/// channel `paddock:free:<name>`, and, once per database, `paddock:server`, the marker.
struct lock_keys {
    std::string name, counter, channel;

    explicit lock_keys(std::string_view lock_name);
};

/// The lock whose releases are told in this channel.
std::string lock_name_of(std::string_view channel);

/// The value of a lock's key: `pdk1:<time to live in ms>:<random>`. A new one for every attempt, so
/// that a late delete of an earlier attempt meets another value.
/// With a description, `:` and that stand behind it.
std::string lock_value(std::chrono::milliseconds ttl, std::string_view random,
                       std::string_view description = {});
/// Whether another paddock client has set this value.
bool is_lock_value(std::string_view value) noexcept;

/// The Lua scripts. A server executes a script as a whole, but does not take back what it has done
/// when a command in it fails.
enum class script {
    acquire, ///< sets the lock's key if it is free, and the counter with it
    renew,   ///< prolongs an own key, sets it again where it is missing, and raises the counter
    release, ///< deletes an own key, and tells those that wait
    look,    ///< reads a lock's key
    kick,    ///< ends another client's hold
};
constexpr int script_count = 5;
/// The first ones, which a client needs for its locks: every connection loads them. The text of the
/// others, which are rare, is sent with each call.
constexpr int loaded_scripts = 3;

const std::string& text_of(script which);

/// A call of a script: its keys and arguments in EVALSHA's order, the number of keys first.
using call_words = std::vector<std::string>;

call_words acquire_words(const lock_keys& keys, std::string_view value,
                         std::chrono::milliseconds ttl, const deployment& all);
call_words renew_words(const lock_keys& keys, std::string_view value, std::chrono::milliseconds ttl,
                       const deployment& all, std::int64_t token);
/// With `tells` those that wait are told; no client waits for a key that was not a lock yet.
call_words release_words(const lock_keys& keys, std::string_view value, bool tells);
call_words look_words(const lock_keys& keys);
call_words kick_words(const lock_keys& keys, std::string_view value);

/// What a server said to a script.
struct answer {
    enum class kind {
        granted,  ///< the key is set; `token`
        renewed,  ///< the key had our value, and has its full time to live again
        set,      ///< the key was missing, and is set again
        taken,    ///< the key has another value: `left`, `holder`
        young,    ///< the server may have lost its data, and sets nothing: `left`
        released, ///< the key had our value, and is deleted; `text`: why no client was told
        gone,     ///< the key does not have our value; `text` as above
        held,     ///< the key has a value: `left`, `holder`
        free,     ///< there is no such key
        kicked,   ///< the key had that value, and the hold will end
        replica,  ///< the server is no master
        mismatch, ///< the clients of this server use another deployment: `text`
        refused,  ///< an error, such as LOADING, OOM, MISCONF: `text`
        denied,   ///< an error that time does not heal: the credentials, or their rights: `text`
        spoilt,   ///< the counter of fencing tokens, or the marker, is something else: `text`
        unknown_script,
    };

    kind what = kind::refused;
    std::int64_t token = 0;
    std::int64_t listeners = 0; ///< so many clients heard of a release
    /// Until the key expires, or the server is of age; negative: never.
    std::chrono::milliseconds left{};
    /// The server's clock when it executed the script, since 1970; zero: not known.
    std::chrono::microseconds clock{};
    std::string holder; ///< the first bytes of the value; of `held`, 4096
    std::string text;

    friend bool operator==(const answer&, const answer&) = default;
};

/// The command that reads the marker, which is all that a client does with it before its first
/// lock.
const std::vector<std::string>& marker_command();
/// Whether its reply says that the clients of this server use another deployment: a `mismatch`.
std::optional<answer> mismatch_in(const reply& marker, const deployment& all);

/// Of the text of an error, what shows its meaning, and nothing that the server quotes.
std::string_view name_of_error(std::string_view text) noexcept;

/// A reply that no script gives is `refused`: whether anything was done is unknown.
answer read_answer(const reply& said);

} // namespace paddock::redis::rules
