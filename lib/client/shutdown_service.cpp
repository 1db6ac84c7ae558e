#include "client/shutdown_service.hpp"

#include "client/client_base.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

class shutdown_service final : public asio::execution_context::service {
public:
    using key_type = shutdown_service;
    static inline asio::execution_context::id id;

    explicit shutdown_service(asio::execution_context& context) : service(context) {}

    void add(const std::shared_ptr<client_base>& client) {
        const std::lock_guard lock(mutex_);
        std::erase_if(clients_, [](const auto& c) { return c.expired(); });
        clients_.push_back(client);
    }

private:
    void shutdown() override {
        for (const auto& weak : std::exchange(clients_, {}))
            if (const auto client = weak.lock()) client->shutdown();
    }

    void notify_fork(asio::execution_context::fork_event event) override {
        if (event != asio::execution_context::fork_child) return;
        const auto copies = clients_;
        for (const auto& weak : copies)
            if (const auto client = weak.lock()) client->after_fork();
    }

    std::mutex mutex_;
    std::vector<std::weak_ptr<client_base>> clients_;
};

} // namespace

void end_with_context(const std::shared_ptr<client_base>& client) {
    // In a forked child the reactor must handle the fork before the clients close the descriptors
    // that are registered with it. Asio notifies its services in the order of their creation, so
    // the timer creates the reactor's service first.
    const asio::steady_timer creates_reactor(client->get_executor());
    auto& context = asio::query(client->get_executor(), asio::execution::context);
    asio::use_service<shutdown_service>(context).add(client);
}

} // namespace paddock::detail
