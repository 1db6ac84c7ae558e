#pragma once

#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>
#include <paddock/options.hpp>
#include <paddock/ticket.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
struct fair_lock;
}

class [[gnu::visibility("default")]] lock_family;

/// One fair lock for each key, for any number of keys: `co_await orders.lock(article)`. The lock of
/// a key is the mutex in the directory `<path of the family>/<name of the key>`. It needs no object
/// of its own, and the client keeps nothing of it when its last contender has left (and it does
/// not linger). A mutex with the same options at path_of() is the same lock.
///
/// **Directories.** The transaction that creates the first node of a key makes the key's directory,
/// so that an uncontended lock needs one write and no read (but try_lock(), try_with() and limits
/// of zero or less list the directory first); the one that deletes the last node deletes the
/// directory. The access control list of the family's path must grant the client CREATE and DELETE:
/// without DELETE the first directory that each session makes stays. Locks of many keys that are
/// asked for in one turn of the event loop share transactions. While a key is contended by several
/// clients its directory stays, and for ten seconds after they were last seen there.
///
/// A client that closes deletes the directories of its locks that are then empty, but none that no
/// lock has made. It knows that a lock has if it has made the directory itself; one that it has
/// found there it reads, once it has found it and, while it does not know, when its last call for
/// the key leaves. So an empty directory is left behind where a client was killed while it held the
/// lock, or closed while the servers did not answer, and where it closed while a call was creating
/// its node in a directory that existed, or before that read was answered. The next use of that key
/// deletes it, ten seconds later. (A directory that was missing while clients contended for its
/// key, or while the connection was lost, is made again as a container, which the servers delete
/// when it is empty; and so is one that the ensemble refuses to make with its first node, because
/// of a quota or the access control list.)
///
/// Give the family a directory of its own: below its path there must be nothing else. (An empty
/// directory that another program makes in the place of one that locks had made is taken for
/// theirs.) A shared_lock_family at the same path does not exclude it. Programs that use path_of()
/// through other libraries find directories that come and go: Curator creates them again, kazoo
/// (2.8) fails. With mutex_options::persistent_parents directories are made once and stay, and such
/// programs can share the keys.
///
/// **Keys.** A key has 1 to 4096 bytes, which can be any. Equal bytes are the same key; there is no
/// normalisation of text. An operation copies the key before it returns.
///
/// **The name of a key** is the same in all versions and programs, so that other programs can use
/// the lock as well. It consists of the bytes of the key, but for these, each of which stands as
/// `%` and two upper-case hex digits:
///   - bytes that are not part of valid UTF-8 (overlong forms and surrogates are not valid);
///   - the bytes of control characters (U+0000 to U+001F, U+007F to U+009F), of `/` and of `%`;
///   - the bytes of the other characters that ZooKeeper refuses: U+E000 to U+F8FF, U+FFF0 to
///     U+FFFF, and all from U+10000 on;
///   - the first byte of the keys `.` and `..`.
///
/// If that has more than 200 bytes, the name consists of three parts: its first 120 bytes, or up to
/// two fewer, so that the cut divides neither an escape nor a character; `~`; and the name-based
/// UUID of the key (RFC 4122, version 5: SHA-1) in the name space for URLs
/// (6ba7b811-9dad-11d1-80b4-00c04fd430c8), as 32 lower-case hex digits. Where a shorter name has
/// this form by itself (118 to 120 bytes, `~`, 32 of the characters 0-9 and a-f), `%7E` stands for
/// its `~`. So different keys have different names, unless their UUIDs collide; then they share a
/// lock.
///
///     key                         name
///     4711                        4711
///     EU/4711                     EU%2F4711
///     100%                        100%25
///     .                           %2E
///     ..                          %2E.
///     a b~c                       a b~c
///     Ärmel €                     Ärmel €
///     "line\n"                    line%0A
///     "\xc3("                     %C3(
///     U+1D11E                     %F0%9D%84%9E
///     200 times a                 200 times a
///     201 times a                 120 times a, ~b67276414f455e01a1e926b4d86a5408
///     a and 70 times €            a and 39 times €, ~6cbfb08b5f5055b180ba50718d63837d
///     aa and 80 times /           aa and 39 times %2F, ~a1210ab8b39852b5b5ac037eff3a1d8c
///     120 times a, ~b67276414f455e01a1e926b4d86a5408
///                                 120 times a, %7Eb67276414f455e01a1e926b4d86a5408
///
/// (`python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "a" * 201).hex)'` prints the
/// digits of the first of the long ones.)
///
/// **Operations**, each with the key as its first argument, such as `try_lock_for(key, limit)`:
/// lock(), try_lock(), try_lock_for(), try_lock_until(), with(), try_with(), try_with_for() and
/// try_with_until(), all of which lockable describes; and enqueue(), contenders(), revoke() and
/// kick(). keys() lists the keys in use, without a key. Errors: those of the same operation of
/// mutex, and `errc::bad_argument` for a key that is empty or has more than 4096 bytes; then the
/// client has sent nothing. The locks are not reentrant: work under the lock of a key that locks
/// the same key again waits for itself.
class lock_family : public lockable<lock_family, std::string_view> {
public:
    /// Creates the object; does no I/O. `path` is the directory of the locks' directories, below
    /// the client's root, with at most 311 bytes; the first operation that needs missing parents
    /// creates them. The options are those of all locks; with mutex_options::persistent_parents
    /// every key that was ever locked leaves an empty directory, and its locks are slower.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, name, label or access
    /// control list that is not acceptable.
    lock_family(const client& zk, std::string_view path, mutex_options options);
    /// As above, with the default options.
    lock_family(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    lock_family(const client&&, std::string_view, mutex_options) = delete;
    lock_family(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// The directory of a key's lock, without the client's root: for a mutex, for lock_all(), and
    /// for other programs.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a key that is empty or has more
    /// than 4096 bytes, and for an object that was moved from.
    std::string path_of(std::string_view key) const;

    /// Joins the queue of this key, and completes as soon as the client knows the contender's
    /// position, before the lock is free: see ticket.
    ///
    /// Completion signature: `void(error_code, ticket)`.
    ///
    /// Errors: see the class. Executor, lifetime, thread safety: see lockable.
    ///
    /// Cancellation safety: as mutex::enqueue().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(std::string_view key, Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_, std::string(key));
    }

    /// Lists the contenders for the lock of this key, as mutex::contenders() does. A key that has
    /// never been locked has none.
    ///
    /// Completion signature: `void(error_code, std::vector<contender>)`.
    ///
    /// Errors: see the class. Executor, lifetime, thread safety: see lockable.
    ///
    /// Cancellation safety: total and terminal.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(std::string_view key, Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_, std::string(key));
    }

    /// Lists the keys whose locks are held or waited for, in the order of the names of their nodes:
    /// one listing of the family's directory, and one read for each key in it. Leaves out keys
    /// whose directory is empty, and nodes that are no key's. For a key that is not complete, use a
    /// mutex at key_in_use::path, with mutex_options::name of the family.
    ///
    /// Completion signature: `void(error_code, std::vector<key_in_use>)`.
    ///
    /// Errors: `zk_errc`, `errc::closed`, `errc::auth_failed`.
    ///
    /// Cancellation safety: total and terminal.
    ///
    /// Executor, lifetime, thread safety: see lockable.
    template <
        asio::completion_token_for<void(error_code, std::vector<key_in_use>)> Token = default_token>
    [[nodiscard]] auto keys(Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<key_in_use>)>(
            get_executor(), std::forward<Token>(token), &start_keys, impl_);
    }

    /// Requests that a contender for the lock of this key release it: see mutex::revoke().
    ///
    /// Completion signature: `void(error_code)`. Errors: see the class; `errc::bad_argument` for a
    /// contender for the lock of another key as well. Everything else: as mutex::revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto revoke(std::string_view key, contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_revoke, impl_, std::string(key),
                                                  std::move(target));
    }

    /// Deletes the node of a contender for the lock of this key by force: see mutex::kick().
    ///
    /// Everything else: as revoke().
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto kick(std::string_view key, contender target, Token&& token = {}) const {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_kick, impl_, std::string(key),
                                                  std::move(target));
    }

private:
    friend struct detail::access;
    using impl_ptr = std::shared_ptr<const detail::fair_lock>;
    template <typename Result>
    using handler = detail::handler<void(error_code, Result)>;

    static void start_lock(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_for(handler<guard>, impl_ptr, std::string key,
                                   std::chrono::nanoseconds);
    static void start_enqueue(handler<ticket>, impl_ptr, std::string key);
    static void start_contenders(handler<std::vector<contender>>, impl_ptr, std::string key);
    static void start_keys(handler<std::vector<key_in_use>>, impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, std::string key,
                             contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, std::string key, contender);

    impl_ptr impl_; ///< a lock at the family's path, which nothing uses as such
};

} // namespace paddock
