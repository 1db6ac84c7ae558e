#pragma once

#include <paddock/any_mutex.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/options.hpp>
#include <paddock/redis/client.hpp>
#include <paddock/redis/held_key.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::redis {

namespace detail {
struct line_lock;
}

/// The options of a mutex on Redis.
struct mutex_options {
    paddock::hold_limit hold_limit{};
    std::string group{}; ///< as paddock::mutex_options::group
    /// Text that others see of this holder, or of the caller of this client that passed the keys on
    /// to it, besides host, process and time: valid UTF-8, at most
    /// 256 bytes. Empty: they see only a random value. It needs no second key and no request of
    /// its own, because it stands, as JSON, in the value of the lock's key. So the cost is bytes:
    /// 64 more, and those of host name, process id and label, in each request for the lock and each
    /// message of its release. (With 17 of these, a key that is held takes 176 bytes of a server's
    /// memory instead of 96, and the server answers as many requests: Redis 7.0.)
    std::string label{};
};

class [[gnu::visibility("default")]] mutex;

/// A lock on Redis: the key `name` on every server. Its value is a text that only this hold has,
/// with a time to live, as many other lock libraries have it (`SET name value NX PX ttl`): a mutex
/// and redis-py's Lock, redsync, node-redlock or ShedLock exclude each other at the same key.
/// Beside it the client keeps `paddock:token:<name>`, the counter of the fencing tokens, for a day
/// and twice `max_ttl` after the last grant (longer after a clock was set back, until it shows a
/// later time than the tokens; a renewal sets it again), and once per database `paddock:server`.
///
/// Waiters of one client get the lock in the order of their calls: a guard that is released passes
/// its keys to the next of them without a request, up to fifteen times in a row; then they are
/// released for other clients. Among clients there is no order: the first one that asks after a
/// release has it. A client that locks again at once lets those that wait ask first, for an eighth
/// of the time that it has kept the lock, at most a quarter of a second (or four round trips);
/// try_lock() waits for that as well. Waiters do not ask again and again: the release wakes them
/// (PUBLISH), or the end of the key's time to live. It is not reentrant.
///
/// The fencing token of a guard (`zxid` is the number, `sub` counts how often the keys were passed
/// on) is larger than the counters of a quorum, and at least its servers' time in microseconds. It
/// grows with every hold of this name for as long as no server loses its counter, whatever the
/// clocks show. After a loss it still grows if the clock of the one server was not set back, or the
/// clocks of several servers differ by less than `max_ttl` (so long a server grants nothing that
/// has lost its data; not with `trust_new_servers`). Otherwise a later token can be smaller than an
/// earlier one.
///
/// guard::path() is the name. guard::verify() asks a quorum for the keys; guard::transaction()
/// completes with `errc::not_supported`, guard::downgrade() with `errc::bad_argument`, and no
/// client can revoke a hold, but kick() ends it. guard::unlock() completes when a quorum has
/// deleted the key, or its time to live is over. guard::lost() returns `errc::lease_lapsed` when a
/// quorum has not confirmed the key in time, and `errc::node_deleted` when the servers say that
/// another client has it.
///
/// Errors of lock(): `errc::options_mismatch` when the clients of these servers use another
/// `max_ttl` or another number of servers; `errc::auth_failed` when the credentials or their rights
/// do not suffice (of an ACL user: the commands EVALSHA, EVAL, SCRIPT|LOAD, SUBSCRIBE, UNSUBSCRIBE,
/// PUBLISH, PING, INFO, TIME, GET, SET, DEL, APPEND, PTTL, PEXPIRE, HSET, HMGET, for its name
/// CLIENT|SETNAME, with a database SELECT, and the keys and channels: `<name>`,
/// `paddock:token:<name>`, `paddock:server`, `paddock:free:<name>`); `errc::unsuitable_server` as
/// client::connect(), and when another program has written to the counter; `errc::closed`. Servers
/// that cannot be reached, load their data or have no memory left are not an error: lock() waits
/// for them, and try_lock() completes with `errc::not_connected`. The log says what servers refuse.
///
/// **Operations**: those of any_mutex, all of which lockable describes; and holder() and kick().
class mutex : public any_mutex {
public:
    /// Creates the object; does no I/O. `name` is the lock's key: 1 to 512 bytes, which can be any;
    /// not one that begins with `paddock:`.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a name or an option that is not
    /// acceptable.
    mutex(const client& servers, std::string_view name, mutex_options options);
    /// As above, with the default options.
    mutex(const client& servers, std::string_view name);
    /// A temporary client would close at the end of the expression.
    mutex(const client&&, std::string_view, mutex_options) = delete;
    mutex(const client&&, std::string_view) = delete;

    /// Asks all servers who holds the lock, once a quorum is connected; nothing if no quorum can
    /// have its key. The clients that wait leave nothing on the servers that could be listed.
    ///
    /// Completion signature: `void(error_code, std::optional<held_key>)`.
    ///
    /// Errors: `errc::not_connected` when fewer than a quorum have answered; `errc::auth_failed`,
    /// `errc::options_mismatch` and `errc::unsuitable_server` as lock(); `errc::closed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <
        asio::completion_token_for<void(error_code, std::optional<held_key>)> Token = default_token>
    [[nodiscard]] auto holder(Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, std::optional<held_key>)>(
            get_executor(), std::forward<Token>(token), &start_holder, lock_);
    }

    /// Ends a hold by force, as holder() has returned it. The holder cannot renew it any more, and
    /// learns of that with its next renewal, after a third of its `ttl` at most: guard::lost()
    /// returns `errc::node_deleted`. The others get the lock when it has released its guard, or
    /// when the time to live of the key is over: never while its guard is valid. The key of another
    /// library is deleted at once: its holder may work on. (A client that passes the keys on from
    /// one of its callers to the next keeps the value: then it is the next one's hold that ends.)
    ///
    /// Completion signature: `void(error_code, bool)`: whether this hold has been ended; false if
    /// it was over before, and for a key that is no text, or of more than 4096 bytes, which stays.
    ///
    /// Errors: those of holder(); after `errc::not_connected` some of the servers may have executed
    /// it: call it again.
    ///
    /// Cancellation safety: total and terminal; the servers still execute what was sent.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <asio::completion_token_for<void(error_code, bool)> Token = default_token>
    [[nodiscard]] auto kick(held_key target, Token&& token = {}) const {
        return paddock::detail::initiate<void(error_code, bool)>(
            get_executor(), std::forward<Token>(token), &start_kick, lock_, std::move(target));
    }

private:
    using lock_ptr = std::shared_ptr<const detail::line_lock>;

    explicit mutex(lock_ptr lock);

    static void start_holder(paddock::detail::handler<void(error_code, std::optional<held_key>)>,
                             lock_ptr);
    static void start_kick(paddock::detail::handler<void(error_code, bool)>, lock_ptr, held_key);

    lock_ptr lock_;
};

} // namespace paddock::redis
