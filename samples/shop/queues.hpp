// Who holds the locks of the articles and who waits, as JSON.
#pragma once

#include <paddock/paddock.hpp>

#include <boost/json.hpp>

#include <chrono>
#include <mutex>

namespace shop {

namespace asio = boost::asio;
namespace json = boost::json;

/// The state of the client, for `/health` and the page.
json::object client_as_json(const paddock::client& zk);

/// Looks at most once a second, for however many ask. Any thread may call look().
class queues {
public:
    queues(const paddock::client& zk, const paddock::lock_family& articles)
        : zk_(zk), articles_(articles) {}

    /// `{"now": …, "client": …, "articles": […]}`; what was seen last, if the ensemble is away or
    /// somebody else is looking.
    asio::awaitable<json::object> look();

private:
    asio::awaitable<json::array> read() const;
    bool should_read();

    const paddock::client& zk_;
    const paddock::lock_family& articles_;
    std::mutex mutex_; ///< of the rest
    json::array seen_;
    bool reading_ = false;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace shop
