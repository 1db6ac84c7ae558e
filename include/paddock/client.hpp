#pragma once

#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/options.hpp>
#include <paddock/watch.hpp>
#include <paddock/znode.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

namespace detail {
class core;
}

enum class client_state {
    connecting, ///< there is no session yet
    connected,  ///< requests are answered
    suspended,  ///< the connection is lost; the session, and every lock in it, is perhaps alive
    expired,    ///< the session is over, and a new one is about to be asked for
    closed,     ///< for good
};

/// An application's use of one ZooKeeper ensemble. It connects when it is first needed, reconnects
/// by itself, and opens a new session (the next epoch) when its session has expired.
///
/// Executor: completions come on the handler's associated executor, by default on get_executor().
/// Inside, the client has one strand of its own on that executor.
/// Lifetime: every operation may outlive this object; the destructor closes the client as close()
/// does, in the background. When the executor never runs again the session, and the locks in it,
/// live on until the session times out: `co_await close()` before the end.
/// Thread safety: distinct objects any thread; one object: its const members and all its operations
/// may be called from any thread at the same time.
/// Cancellation: every operation accepts total and terminal cancellation and then completes with
/// `asio::error::operation_aborted`, at once. A request that was already sent is executed all the
/// same.
class client {
public:
    /// Does no I/O. `servers` is a list like `zk1:2181,zk2:2181,zk3`, names or addresses (an IPv6
    /// address with a port in brackets: `[::1]:2181`), the port 2181 where none is given, and may
    /// end in a root path: `zk1,zk2/app`.
    /// Throws `system_error` with `errc::bad_argument` for a malformed list, root or option.
    client(asio::any_io_executor executor, std::string_view servers, client_options options);
    /// With the default options. Not a default argument: g++ 12 destroys one in the wrong place
    /// when there is a co_await beside it.
    client(asio::any_io_executor executor, std::string_view servers);
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    asio::any_io_executor get_executor() const;

    client_state state() const noexcept;
    /// The number of sessions so far, the present one included; 0 before the first.
    std::uint64_t epoch() const noexcept;
    /// The id of the present session, 0 if there is none.
    std::int64_t session_id() const noexcept;
    /// The present session's timeout as negotiated, 0 if there is none.
    std::chrono::milliseconds session_timeout() const noexcept;

    /// Waits until the client is connected.
    ///
    /// Completion signature: `void(error_code)`.
    /// Errors: `errc::closed`, `errc::auth_failed`. An ensemble that cannot be reached is not an
    /// error: bound the wait with cancellation.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto connect(Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_connect, core_);
    }

    /// Ends the session: its ephemeral nodes, and so its locks, are gone when the ensemble has
    /// heard of it, at the latest after the session timeout. Whatever is pending completes with
    /// `errc::closed`.
    ///
    /// Completion signature: `void(error_code)`. Errors: none.
    /// Cancellation: ends the waiting, not the closing.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto close(Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_close, core_);
    }

    /// Waits until the state is another than `seen`, and says which. States that came and went
    /// between two calls are not told; epoch() shows whether there was another session.
    ///
    /// Completion signature: `void(error_code, client_state)`. Errors: none but cancellation, and
    /// what ended the client (`errc::closed`) when `seen` is `closed`, which is the last state.
    template <asio::completion_token_for<void(error_code, client_state)> Token = default_token>
    [[nodiscard]] auto next_state(client_state seen, Token&& token = {}) {
        return detail::initiate<void(error_code, client_state)>(
            get_executor(), std::forward<Token>(token), &start_next_state, core_, seen);
    }

    // Operations on nodes. All of them wait while the client is not connected. Reads are repeated
    // across reconnects and sessions. A write that was sent and not answered completes with
    // `errc::outcome_unknown`: it may have been executed. What the ensemble refuses is a `zk_errc`.
    // A malformed path, and whatever else ZooKeeper would refuse unseen, completes with
    // `errc::bad_argument`, and nothing is sent.

    /// Creates a node. Completion signature: `void(error_code, create_result)`.
    template <asio::completion_token_for<void(error_code, create_result)> Token = default_token>
    [[nodiscard]] auto create(std::string path, std::string data, create_options how,
                              Token&& token = {}) {
        return detail::initiate<void(error_code, create_result)>(
            get_executor(), std::forward<Token>(token), &start_create, core_, std::move(path),
            std::move(data), std::move(how));
    }

    /// Reads a node's data. Completion signature: `void(error_code, get_result)`.
    template <asio::completion_token_for<void(error_code, get_result)> Token = default_token>
    [[nodiscard]] auto get(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, get_result)>(
            get_executor(), std::forward<Token>(token), &start_get, core_, std::move(path),
            no_watch());
    }
    /// Likewise, and tells `changed` when the data changes or the node is deleted.
    template <asio::completion_token_for<void(error_code, get_result)> Token = default_token>
    [[nodiscard]] auto get(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, get_result)>(
            get_executor(), std::forward<Token>(token), &start_get, core_, std::move(path),
            changed.latch_);
    }

    /// Reads a node's stat. A missing node is `zk_errc::no_node`.
    /// Completion signature: `void(error_code, node_stat)`.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto exists(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_exists, core_, std::move(path),
            no_watch());
    }
    /// Likewise, and tells `changed` when the node is created, deleted or its data set. The watch
    /// is armed for a missing node too.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto exists(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_exists, core_, std::move(path),
            changed.latch_);
    }

    /// Lists a node's children. Completion signature: `void(error_code, children_result)`.
    template <asio::completion_token_for<void(error_code, children_result)> Token = default_token>
    [[nodiscard]] auto children(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, children_result)>(
            get_executor(), std::forward<Token>(token), &start_children, core_, std::move(path),
            no_watch());
    }
    /// Likewise, and tells `changed` when a child comes or goes, or the node is deleted.
    template <asio::completion_token_for<void(error_code, children_result)> Token = default_token>
    [[nodiscard]] auto children(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, children_result)>(
            get_executor(), std::forward<Token>(token), &start_children, core_, std::move(path),
            changed.latch_);
    }

    /// Writes a node's data if it has this version. Completion signature:
    /// `void(error_code, node_stat)`.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto set(std::string path, std::string data, std::int32_t version,
                           Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_set, core_, std::move(path),
            std::move(data), version);
    }

    /// Deletes a node if it has this version. Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto remove(std::string path, std::int32_t version, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_remove, core_, std::move(path), version);
    }

    /// Lets the server at hand catch up with the leader, so that reads after it see every write
    /// that was answered before. Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto sync(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_sync, core_, std::move(path));
    }

    /// Executes all steps or none. The error is that of the first step that was refused; the
    /// results are empty then. Completion signature: `void(error_code,
    /// std::vector<operation_result>)`.
    template <asio::completion_token_for<void(error_code, std::vector<operation_result>)> Token =
                  default_token>
    [[nodiscard]] auto multi(std::vector<operation> steps, Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<operation_result>)>(
            get_executor(), std::forward<Token>(token), &start_multi, core_, std::move(steps));
    }

    /// Reads a node's access control list. Completion signature: `void(error_code, acl_result)`.
    template <asio::completion_token_for<void(error_code, acl_result)> Token = default_token>
    [[nodiscard]] auto get_acl(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, acl_result)>(
            get_executor(), std::forward<Token>(token), &start_get_acl, core_, std::move(path));
    }

    /// Replaces a node's access control list if the list has this version (`node_stat::aversion`).
    /// Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto set_acl(std::string path, acl entries, std::int32_t version,
                               Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_set_acl, core_, std::move(path),
                                                  std::move(entries), version);
    }

    /// For the locks of this library.
    const std::shared_ptr<detail::core>& core() const noexcept { return core_; }
    /// For the tests of this library (session/make_core.hpp).
    explicit client(std::shared_ptr<detail::core> core) noexcept;

private:
    using core_ptr = std::shared_ptr<detail::core>;
    using latch_ptr = std::shared_ptr<detail::watch_latch>;
    static latch_ptr no_watch() noexcept { return nullptr; }

    static void start_connect(detail::handler<void(error_code)>, core_ptr);
    static void start_close(detail::handler<void(error_code)>, core_ptr);
    static void start_next_state(detail::handler<void(error_code, client_state)>, core_ptr,
                                 client_state);
    static void start_create(detail::handler<void(error_code, create_result)>, core_ptr,
                             std::string, std::string, create_options);
    static void start_get(detail::handler<void(error_code, get_result)>, core_ptr, std::string,
                          latch_ptr);
    static void start_exists(detail::handler<void(error_code, node_stat)>, core_ptr, std::string,
                             latch_ptr);
    static void start_children(detail::handler<void(error_code, children_result)>, core_ptr,
                               std::string, latch_ptr);
    static void start_set(detail::handler<void(error_code, node_stat)>, core_ptr, std::string,
                          std::string, std::int32_t);
    static void start_remove(detail::handler<void(error_code)>, core_ptr, std::string,
                             std::int32_t);
    static void start_sync(detail::handler<void(error_code)>, core_ptr, std::string);
    static void start_multi(detail::handler<void(error_code, std::vector<operation_result>)>,
                            core_ptr, std::vector<operation>);
    static void start_get_acl(detail::handler<void(error_code, acl_result)>, core_ptr, std::string);
    static void start_set_acl(detail::handler<void(error_code)>, core_ptr, std::string, acl,
                              std::int32_t);

    core_ptr core_;
};

} // namespace paddock
