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

class [[gnu::visibility("default")]] shared_lock_family;

/// One fair read-write lock for each key, for any number of keys. The lock of a key is the
/// shared_mutex in the directory `<path of the family>/<name of the key>`; lock_family says what a
/// key is, which name it has, and what becomes of its directory. A shared_mutex with the same
/// options at path_of() is the same lock.
///
/// A lock_family at the same path does not exclude it, as a mutex does not exclude a shared_mutex.
///
/// **Operations**, each with the key as its first argument, such as `lock_shared(key)`: lock(),
/// try_lock(), try_lock_for(), try_lock_until(), with(), try_with(), try_with_for() and
/// try_with_until() for the exclusive lock, lock_shared(), with_shared() and so on for the shared
/// one, all of which shared_lockable describes (with a warning for g++ 12); and enqueue(),
/// enqueue_shared(), contenders(), revoke() and kick(). keys() lists the keys in use, without a
/// key. Errors: those of the same operation of shared_mutex, and `errc::bad_argument` for a key
/// that is empty or has more than 4096 bytes; then the client has sent nothing.
class shared_lock_family : public shared_lockable<shared_lock_family, std::string_view> {
public:
    /// Creates the object; does no I/O. `path` is the directory of the locks' directories, below
    /// the client's root, with at most 311 bytes; the first operation that needs missing parents
    /// creates them. The options are those of all locks.
    ///
    /// Errors: throws `system_error` with `errc::bad_argument` for a path, label or access control
    /// list that is not acceptable.
    shared_lock_family(const client& zk, std::string_view path, shared_mutex_options options);
    /// As above, with the default options.
    shared_lock_family(const client& zk, std::string_view path);
    /// A temporary client would close at the end of the expression.
    shared_lock_family(const client&&, std::string_view, shared_mutex_options) = delete;
    shared_lock_family(const client&&, std::string_view) = delete;

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

    /// As lock_family::path_of().
    std::string path_of(std::string_view key) const;

    /// Joins the queue for the exclusive lock of this key: see mutex::enqueue().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue(std::string_view key, Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue, impl_, std::string(key));
    }

    /// Joins the queue for the shared lock of this key: see shared_mutex::enqueue_shared().
    template <asio::completion_token_for<void(error_code, ticket)> Token = default_token>
    [[nodiscard]] auto enqueue_shared(std::string_view key, Token&& token = {}) const {
        return detail::initiate<void(error_code, ticket)>(
            get_executor(), std::forward<Token>(token), &start_enqueue_shared, impl_,
            std::string(key));
    }

    /// As lock_family::contenders(); contender::shared is true for readers.
    template <
        asio::completion_token_for<void(error_code, std::vector<contender>)> Token = default_token>
    [[nodiscard]] auto contenders(std::string_view key, Token&& token = {}) const {
        return detail::initiate<void(error_code, std::vector<contender>)>(
            get_executor(), std::forward<Token>(token), &start_contenders, impl_, std::string(key));
    }

    /// As lock_family::keys().
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
    static void start_lock_shared(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_shared(handler<guard>, impl_ptr, std::string key);
    static void start_try_lock_shared_for(handler<guard>, impl_ptr, std::string key,
                                          std::chrono::nanoseconds);
    static void start_enqueue(handler<ticket>, impl_ptr, std::string key);
    static void start_enqueue_shared(handler<ticket>, impl_ptr, std::string key);
    static void start_contenders(handler<std::vector<contender>>, impl_ptr, std::string key);
    static void start_keys(handler<std::vector<key_in_use>>, impl_ptr);
    static void start_revoke(detail::handler<void(error_code)>, impl_ptr, std::string key,
                             contender);
    static void start_kick(detail::handler<void(error_code)>, impl_ptr, std::string key, contender);

    impl_ptr impl_; ///< a lock at the family's path, which nothing uses as such
};

} // namespace paddock
