// Who holds the locks of the articles and who waits, as JSON.
#pragma once

#include <paddock/paddock.hpp>

#include <boost/asio.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <mutex>
#include <string>
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
    asio::awaitable<std::string> look() {
        const auto executor = co_await asio::this_coro::executor;
        // It is for others, too, so it goes on when whoever asked hangs up.
        auto to_the_end =
            asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable);
        if (begin_reading())
            co_await asio::co_spawn(executor, read_in_time(), std::move(to_the_end));
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        auto text = serialize(json::object{{"now", seconds(now)}, {"client", as_json(zk_)}});
        const std::lock_guard held(mutex_);
        text.replace(text.size() - 1, 1, ",\"articles\":" + seen_ + "}\n");
        co_return text;
    }

private:
    asio::awaitable<void> read_in_time() {
        asio::steady_timer limit(co_await asio::this_coro::executor, std::chrono::seconds(2));
        std::string now;
        try {
            auto first = co_await paddock::first_of(read(), limit.async_wait(asio::use_awaitable));
            if (first.index() == 0) now = serialize(std::get<0>(first));
        } catch (const std::exception&) { // the ensemble is away
        }
        const std::lock_guard held(mutex_);
        if (!now.empty()) seen_ = std::move(now);
        reading_ = false;
        next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }

    asio::awaitable<json::array> read() const {
        constexpr std::size_t most = 50; // articles, and contenders for each
        json::array articles;
        for (const auto& used : co_await articles_.keys()) {
            const auto queue = co_await articles_.contenders(used.key);
            if (queue.empty()) continue; // they have left meanwhile
            if (articles.size() == most) break;
            json::array shown;
            for (const auto& one : queue)
                if (shown.size() < most) shown.push_back(as_json(one));
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
    std::string seen_ = "[]";
    bool reading_ = false;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace shop
