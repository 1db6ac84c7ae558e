#pragma once

#include "native/c_error_line.hpp"
#include "native/c_sockets.hpp"
#include "native/calls.hpp"
#include "native/relay.hpp"
#include "support/fork.hpp"

#include <zookeeper/zookeeper.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::native {

/// native::calls on the system's single-threaded C client.
class c_client final : public calls {
public:
    ~c_client() override { close(); }

    void encrypt(encryption how) override { encryption_.emplace(std::move(how)); }
    bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
              observer& events) override;
    interest_result end_session() noexcept override;
    void close() noexcept override;

    interest_result interest() override;
    int process(unsigned events) override;
    void flush() noexcept override;
    void break_connection() noexcept override;

    int state() const noexcept override;
    int phase() const noexcept override;
    std::int64_t session_id() const noexcept override;
    std::chrono::milliseconds session_timeout() const noexcept override;
    std::string server() const override;
    int set_servers(const std::string& servers) override;
    int add_auth(const std::string& scheme, const std::string& credentials, done reply_to) override;

    int create(const std::string& path, std::string_view data, const create_options& how,
               done reply_to) override;
    int get(const std::string& path, bool watch, done reply_to) override;
    int exists(const std::string& path, bool watch, done reply_to) override;
    int children(const std::string& path, bool watch, done reply_to) override;
    int set(const std::string& path, std::string_view data, std::int32_t version,
            done reply_to) override;
    int remove(const std::string& path, std::int32_t version, done reply_to) override;
    int sync(const std::string& path, done reply_to) override;
    int get_acl(const std::string& path, done reply_to) override;
    int set_acl(const std::string& path, const acl& entries, std::int32_t version,
                done reply_to) override;
    int multi(std::span<const operation> steps, done reply_to) override;
    int remove_watches(const std::string& path, done reply_to) override;

private:
    static void watcher(zhandle_t*, int type, int state, const char* path, void* self) noexcept;

    template <typename Call>
    int request(const std::string& path, done& reply_to, Call call);
    /// Not in a forked child: the connection is its parent's.
    bool may_send() const noexcept { return handle_ != nullptr && owner_.is_this_process(); }
    bool is_connected() const noexcept;
    bool socket_is_ours() const noexcept;
    void cork() noexcept;
    bool all_written() noexcept;
    void send_close_session() noexcept;
    interest_result drain_closing_socket() noexcept;
    void free_handle() noexcept;
    void wait_for_server_close() noexcept;
    void report_errors();

    // Encrypted connections (c_relay.cpp).
    void begin_relay();
    bool is_connected_by_relay();
    void flush_relay() noexcept;
    bool report_relay();

    zhandle_t* handle_ = nullptr;
    observer* observer_ = nullptr;
    descriptor socket_; ///< from the last interest(); the C client may have closed it since
    bool corked_ = false;
    int closing_socket_ = -1; ///< a duplicate that outlives the handle, once CloseSession was sent
    std::chrono::steady_clock::time_point close_sent_at_{};
    process_stamp owner_;
    bool broken_by_us_ = false; ///< break_connection() has shut the present socket down
    c_error_line errors_;

    std::optional<encryption> encryption_;
    c_sockets sockets_;
    std::unique_ptr<relay> relay_; ///< of the present connection, or the last one
    std::string relay_server_;     ///< its server, `ip:port`
    std::string relay_host_;       ///< the name or address of that in the list
    bool relay_connects_ = false;  ///< the C client waits for it
};

} // namespace paddock::native
