#pragma once

#include <paddock/any_client.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>

#include <chrono>
#include <utility>

namespace paddock::detail {

/// The function for `zk://…`.
open_system zookeeper_system();

/// The function for `redis://…`; empty in a library without Redis.
open_system redis_system();

/// Passes the completion of an operation on, with everything that is associated with its handler.
/// `Local` is a type of one source file: what Asio's templates make of any other is exported.
template <typename Local>
class passed_on {
public:
    passed_on(const asio::any_io_executor& io, lock_system::handler done)
        : executor_(asio::get_associated_executor(done, io)), done_(std::move(done)) {}

    using executor_type = asio::any_completion_executor;
    using cancellation_slot_type = asio::cancellation_slot;

    executor_type get_executor() const noexcept { return executor_; }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return asio::get_associated_cancellation_slot(done_);
    }
    void operator()(error_code why) { std::move(done_)(why); }

private:
    executor_type executor_;
    lock_system::handler done_;
};

/// A lock_system that is a client of this library. `Client` has the operations of paddock::client.
template <typename Local, typename Client, typename Mutex, typename Family>
class client_system final : public lock_system {
public:
    explicit client_system(Client client) : client_(std::move(client)) {}

    asio::any_io_executor get_executor() const noexcept override { return client_.get_executor(); }
    any_mutex mutex(std::string_view name) const override { return Mutex(client_, name); }
    any_lock_family lock_family(std::string_view name) const override {
        return Family(client_, name);
    }
    void connect(std::chrono::nanoseconds limit, handler done) override {
        client_.connect_for(limit, passed_on<Local>(get_executor(), std::move(done)));
    }
    void close(handler done) override {
        client_.close(passed_on<Local>(get_executor(), std::move(done)));
    }
    void drain(std::chrono::nanoseconds limit, handler done) override {
        client_.drain(limit, passed_on<Local>(get_executor(), std::move(done)));
    }
    client_statistics statistics() const override { return client_.statistics(); }
    client_health health() const override { return client_.health(); }

private:
    Client client_;
};

} // namespace paddock::detail
