// Who holds the locks of the articles and who waits, as JSON.
#pragma once

#include <paddock/paddock.hpp>

#include <boost/asio.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

namespace shop {

namespace asio = boost::asio;
namespace json = boost::json;

inline double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

/// The state of the client, for `/health` and the page.
inline json::object as_json(const paddock::client& zk) {
    const auto health = zk.health();
    return {{"alive", health.alive},   {"ready", health.ready},
            {"reason", health.reason}, {"state", name_of(zk.state())},
            {"epoch", zk.epoch()},     {"lease_seconds", seconds(zk.lease_remaining())},
            {"server", zk.server()}};
}

inline json::object as_json(const paddock::contender& one) {
    return {{"label", one.label},       {"host", one.host},
            {"pid", one.pid},           {"holds", one.holder},
            {"sequence", one.sequence}, {"since", seconds(one.since.time_since_epoch())}};
}

/// Looks at most once a second, for however many ask. Any thread may call look().
class queues {
public:
    queues(const paddock::client& zk, const paddock::lock_family& articles)
        : zk_(zk), articles_(articles) {}

    /// `{"now": …, "client": …, "articles": […]}`; the articles as seen last, if the ensemble is
    /// away or somebody else is looking.
    asio::awaitable<json::object> look() {
        if (begin_reading()) {
            asio::steady_timer limit(co_await asio::this_coro::executor, std::chrono::seconds(2));
            std::optional<json::array> now;
            try {
                auto first =
                    co_await paddock::first_of(read(), limit.async_wait(asio::use_awaitable));
                if (first.index() == 0) now = std::move(std::get<0>(first));
            } catch (const std::exception&) { // the ensemble is away, or whoever asked
            }
            const std::lock_guard held(mutex_);
            if (now) seen_ = std::move(*now);
            reading_ = false;
            next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        }
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        json::object all{{"now", seconds(now)}, {"client", as_json(zk_)}};
        const std::lock_guard held(mutex_);
        all["articles"] = seen_;
        co_return all;
    }

private:
    asio::awaitable<json::array> read() const {
        constexpr std::size_t most_shown = 50; // of the contenders for one article
        json::array articles;
        for (const auto& used : co_await articles_.keys()) {
            const auto queue = co_await articles_.contenders(used.key);
            json::array shown;
            for (const auto& one : queue)
                if (shown.size() < most_shown) shown.push_back(as_json(one));
            if (queue.empty()) continue; // they have left meanwhile
            articles.push_back(
                {{"article", used.key}, {"contenders", queue.size()}, {"queue", std::move(shown)}});
        }
        co_return articles;
    }

    bool begin_reading() {
        const std::lock_guard held(mutex_);
        if (reading_ || std::chrono::steady_clock::now() < next_ || !zk_.health().ready)
            return false;
        return reading_ = true;
    }

    const paddock::client& zk_;
    const paddock::lock_family& articles_;
    std::mutex mutex_; ///< of the rest
    json::array seen_;
    bool reading_ = false;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace shop
