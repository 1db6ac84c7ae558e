#pragma once

#include "native/calls.hpp"

#include <zookeeper/zookeeper.h>

namespace paddock::native {

/// native::calls over the single-threaded C client of the system.
class c_client final : public calls {
public:
    ~c_client() override { close(); }

    bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
              observer& events) override;
    void close() noexcept override;

    wish interest() override;
    int process(unsigned events) override;
    void flush() noexcept override;
    void break_connection() noexcept override;

    int state() const noexcept override;
    std::int64_t session_id() const noexcept override;
    std::chrono::milliseconds session_timeout() const noexcept override;
    int set_servers(const std::string& servers) override;
    int add_auth(const std::string& scheme, const std::string& credentials, done who) override;

    int create(const std::string& path, std::string_view data, const create_options& how,
               done who) override;
    int get(const std::string& path, bool watch, done who) override;
    int exists(const std::string& path, bool watch, done who) override;
    int children(const std::string& path, bool watch, done who) override;
    int set(const std::string& path, std::string_view data, std::int32_t version,
            done who) override;
    int remove(const std::string& path, std::int32_t version, done who) override;
    int sync(const std::string& path, done who) override;
    int get_acl(const std::string& path, done who) override;
    int set_acl(const std::string& path, const acl& entries, std::int32_t version,
                done who) override;
    int multi(std::span<const operation> steps, done who) override;
    int remove_watches(const std::string& path, done who) override;

private:
    static void watcher(zhandle_t*, int type, int state, const char* path, void* self) noexcept;

    template <typename Call>
    int request(const std::string& path, done& who, Call call);
    bool is_connected() const noexcept;
    bool socket_is_ours() const noexcept;
    void hold_back() noexcept;

    zhandle_t* handle_ = nullptr;
    observer* observer_ = nullptr;
    descriptor socket_; ///< as of the last interest(): the C client may have closed it since
    bool held_back_ = false;
};

} // namespace paddock::native
