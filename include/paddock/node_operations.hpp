#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/watch.hpp>
#include <paddock/znode.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

namespace detail {
class core;
}

class [[gnu::visibility("default")]] node_operations;

/// What a client does with ZooKeeper's nodes; the base of paddock::client.
///
/// They wait while the client is not connected. The client repeats a read, and
/// sync(), across reconnects and sessions until the ensemble answers it; it never sends a write
/// twice.
///
/// Errors of all operations on nodes: the `zk_errc` of the ensemble's refusal; `errc::closed` and
/// `errc::auth_failed`. A write that the client sent and the ensemble did not answer completes with
/// `errc::outcome_unknown`: the ensemble may have executed it. `errc::bad_argument` stands for a
/// malformed path, what else ZooKeeper would refuse unseen (creator_acl() without credentials), a
/// request of more bytes than client_options::max_request_bytes, and a watch that belongs to
/// another client, has served another read, or was moved from; `errc::over_budget` for a watch
/// without room in client_budgets::watched_path_bytes. In these two cases the client sends nothing.
class node_operations {
public:
    using executor_type = asio::any_io_executor;
    /// Never throws; without an executor if the client was moved from.
    executor_type get_executor() const noexcept;

    /// Creates a node; by default a persistent one that everybody may use.
    ///
    /// Completion signature: `void(error_code, create_result)`.
    template <asio::completion_token_for<void(error_code, create_result)> Token = default_token>
    [[nodiscard]] auto create(std::string path, std::string data, create_options options,
                              Token&& token = {}) {
        return detail::initiate<void(error_code, create_result)>(
            get_executor(), std::forward<Token>(token), &start_create, core_, std::move(path),
            std::move(data), std::move(options));
    }
    /// As above, with the default options.
    template <asio::completion_token_for<void(error_code, create_result)> Token = default_token>
    [[nodiscard]] auto create(std::string path, std::string data, Token&& token = {}) {
        return create(std::move(path), std::move(data), create_options(),
                      std::forward<Token>(token));
    }
    /// As above, without data.
    template <asio::completion_token_for<void(error_code, create_result)> Token = default_token>
    [[nodiscard]] auto create(std::string path, Token&& token = {}) {
        return create(std::move(path), std::string(), create_options(), std::forward<Token>(token));
    }

    /// Reads a node's data.
    ///
    /// Completion signature: `void(error_code, get_result)`.
    template <asio::completion_token_for<void(error_code, get_result)> Token = default_token>
    [[nodiscard]] auto get(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, get_result)>(
            get_executor(), std::forward<Token>(token), &start_get, core_, std::move(path),
            watched());
    }
    /// Reads a node's data, and arms `changed` for a change of the data or the deletion of the
    /// node.
    ///
    /// Completion signature: `void(error_code, get_result)`.
    template <asio::completion_token_for<void(error_code, get_result)> Token = default_token>
    [[nodiscard]] auto get(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, get_result)>(
            get_executor(), std::forward<Token>(token), &start_get, core_, std::move(path),
            watched(detail::access::latch_of(changed)));
    }

    /// Reads a node's stat. For a missing node the error is `zk_errc::no_node`.
    ///
    /// Completion signature: `void(error_code, node_stat)`.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto exists(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_exists, core_, std::move(path),
            watched());
    }
    /// Reads a node's stat, and arms `changed` for the creation or deletion of the node or a change
    /// of its data. The read of a missing node arms the watch as well.
    ///
    /// Completion signature: `void(error_code, node_stat)`.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto exists(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_exists, core_, std::move(path),
            watched(detail::access::latch_of(changed)));
    }

    /// Lists a node's children.
    ///
    /// Completion signature: `void(error_code, children_result)`.
    template <asio::completion_token_for<void(error_code, children_result)> Token = default_token>
    [[nodiscard]] auto children(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, children_result)>(
            get_executor(), std::forward<Token>(token), &start_children, core_, std::move(path),
            watched());
    }
    /// Lists a node's children, and arms `changed` for the creation or deletion of a child or the
    /// deletion of the node.
    ///
    /// Completion signature: `void(error_code, children_result)`.
    template <asio::completion_token_for<void(error_code, children_result)> Token = default_token>
    [[nodiscard]] auto children(std::string path, watch& changed, Token&& token = {}) {
        return detail::initiate<void(error_code, children_result)>(
            get_executor(), std::forward<Token>(token), &start_children, core_, std::move(path),
            watched(detail::access::latch_of(changed)));
    }

    /// Writes a node's data if the data has this version.
    ///
    /// Completion signature: `void(error_code, node_stat)`.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto set(std::string path, std::string data, std::int32_t version,
                           Token&& token = {}) {
        return detail::initiate<void(error_code, node_stat)>(
            get_executor(), std::forward<Token>(token), &start_set, core_, std::move(path),
            std::move(data), version);
    }
    /// As above, whatever the version.
    template <asio::completion_token_for<void(error_code, node_stat)> Token = default_token>
    [[nodiscard]] auto set(std::string path, std::string data, Token&& token = {}) {
        return set(std::move(path), std::move(data), any_version, std::forward<Token>(token));
    }

    /// Deletes a node if its data has this version.
    ///
    /// Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto remove(std::string path, std::int32_t version, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_remove, core_, std::move(path), version);
    }
    /// As above, whatever the version.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto remove(std::string path, Token&& token = {}) {
        return remove(std::move(path), any_version, std::forward<Token>(token));
    }

    /// Lets the connected server catch up with the leader: later reads see every write that the
    /// ensemble answered before this call.
    ///
    /// Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto sync(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_sync, core_, std::move(path));
    }

    /// Executes all steps or none. If the ensemble refuses a step, the error is that of the first
    /// refused step, and the results are empty.
    ///
    /// Completion signature: `void(error_code, std::vector<operation_result>)`.
    template <asio::completion_token_for<void(error_code, std::vector<operation_result>)> Token =
                  default_token>
    [[nodiscard]] auto multi(std::vector<operation> steps, Token&& token = {}) {
        return detail::initiate<void(error_code, std::vector<operation_result>)>(
            get_executor(), std::forward<Token>(token), &start_multi, core_, std::move(steps));
    }

    /// Reads a node's access control list.
    ///
    /// Completion signature: `void(error_code, acl_result)`.
    template <asio::completion_token_for<void(error_code, acl_result)> Token = default_token>
    [[nodiscard]] auto get_acl(std::string path, Token&& token = {}) {
        return detail::initiate<void(error_code, acl_result)>(
            get_executor(), std::forward<Token>(token), &start_get_acl, core_, std::move(path));
    }

    /// Replaces a node's access control list if the list has this version (`node_stat::aversion`).
    ///
    /// Completion signature: `void(error_code)`.
    template <asio::completion_token_for<void(error_code)> Token = default_token>
    [[nodiscard]] auto set_acl(std::string path, acl entries, std::int32_t version,
                               Token&& token = {}) {
        return detail::initiate<void(error_code)>(get_executor(), std::forward<Token>(token),
                                                  &start_set_acl, core_, std::move(path),
                                                  std::move(entries), version);
    }

protected:
    template <typename... Result>
    using handler = detail::handler<void(error_code, Result...)>;
    using core_ptr = std::shared_ptr<detail::core>;

    explicit node_operations(core_ptr core) noexcept;
    node_operations(node_operations&&) noexcept;
    node_operations& operator=(node_operations&&) noexcept;
    ~node_operations();

    core_ptr core_;

private:
    using latch_ptr = std::shared_ptr<detail::watch_latch>;
    /// The watch of a read: none, or the inside of the caller's watch, which is null if the caller
    /// has moved from it.
    using watched = std::optional<latch_ptr>;

    static void start_create(handler<create_result>, core_ptr, std::string, std::string,
                             create_options);
    static void start_get(handler<get_result>, core_ptr, std::string, watched);
    static void start_exists(handler<node_stat>, core_ptr, std::string, watched);
    static void start_children(handler<children_result>, core_ptr, std::string, watched);
    static void start_set(handler<node_stat>, core_ptr, std::string, std::string, std::int32_t);
    static void start_remove(handler<>, core_ptr, std::string, std::int32_t);
    static void start_sync(handler<>, core_ptr, std::string);
    static void start_multi(handler<std::vector<operation_result>>, core_ptr,
                            std::vector<operation>);
    static void start_get_acl(handler<acl_result>, core_ptr, std::string);
    static void start_set_acl(handler<>, core_ptr, std::string, acl, std::int32_t);
};

} // namespace paddock
