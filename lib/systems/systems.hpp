#pragma once

#include <paddock/any_client.hpp>

namespace paddock::detail {

/// The function for `zk://…`.
open_system zookeeper_system();

/// The function for `redis://…`; empty in a library without Redis.
open_system redis_system();

/// A lock_system that is a client of this library. `Client` has the operations of paddock::client.
template <typename Client, typename Mutex, typename Family>
class client_system final : public lock_system {
public:
    explicit client_system(Client client) : client_(std::move(client)) {}

    asio::any_io_executor get_executor() const noexcept override { return client_.get_executor(); }
    any_mutex mutex(std::string_view name) const override { return Mutex(client_, name); }
    any_lock_family lock_family(std::string_view name) const override {
        return Family(client_, name);
    }
    void connect(std::chrono::nanoseconds limit, handler done) override {
        client_.connect_for(limit, std::move(done));
    }
    void close(handler done) override { client_.close(std::move(done)); }

private:
    Client client_;
};

} // namespace paddock::detail
