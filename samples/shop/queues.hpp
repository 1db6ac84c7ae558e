// Who holds the locks of the articles and who waits, as JSON.
#pragma once

#include "orders.hpp"

#include <boost/json.hpp>
#include <boost/locale/utf.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

namespace shop {

namespace json = boost::json;

inline double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

inline double now() { return seconds(std::chrono::system_clock::now().time_since_epoch()); }

/// Valid, although the key of a lock, or what another program says of itself, may be no UTF-8.
inline std::string json_text(const json::object& value) {
    using boost::locale::utf::utf_traits;
    auto text = serialize(value);
    for (auto at = text.begin(), next = at; at != text.end(); at = next) {
        const auto character = utf_traits<char>::decode(next, text.end());
        if (boost::locale::utf::is_valid_codepoint(character)) continue;
        *at = '?';
        next = at + 1;
    }
    return text;
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
    queues(const paddock::client& zk, const orders& sales) : zk_(zk), sales_(sales) {}

    /// `{"now": …, "shop": …, "client": …, "seen": …, "articles": […]}`; the articles as they were
    /// seen last, if the ensemble is away or somebody else is looking. Times are in Unix seconds.
    asio::awaitable<std::string> look() {
        const auto executor = co_await asio::this_coro::executor;
        // It is for others, too, so it goes on when whoever asked hangs up.
        auto to_the_end =
            asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable);
        if (begin_reading())
            co_await asio::co_spawn(executor, read_in_time(), std::move(to_the_end));
        auto text = json_text({{"now", now()}, {"shop", sales_.label()}, {"client", as_json(zk_)}});
        text.back() = ',';
        const std::lock_guard held(mutex_);
        co_return text.append(seen_, 1) + "\n";
    }

private:
    asio::awaitable<void> read_in_time() {
        asio::steady_timer limit(co_await asio::this_coro::executor, std::chrono::seconds(2));
        std::string seen;
        try {
            auto first = co_await paddock::first_of(read(), limit.async_wait(asio::use_awaitable));
            if (first.index() == 0) seen = json_text(std::get<0>(first));
        } catch (const std::exception&) { // the ensemble is away
        }
        const std::lock_guard held(mutex_);
        if (!seen.empty()) seen_ = std::move(seen);
        next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }

    asio::awaitable<json::object> read() const {
        constexpr std::size_t most = 50; // articles, and contenders for each
        const double begin = now();
        json::array articles;
        for (const auto& used : co_await sales_.articles().keys()) {
            const auto queue = co_await sales_.articles().contenders(used.key);
            if (queue.empty()) continue; // they have left meanwhile
            if (articles.size() == most) break;
            json::array shown;
            for (const auto& one : queue)
                if (shown.size() < most) shown.push_back(as_json(one));
            articles.push_back(
                {{"article", used.key}, {"contenders", queue.size()}, {"queue", std::move(shown)}});
        }
        co_return json::object{{"seen", begin}, {"articles", std::move(articles)}};
    }

    bool begin_reading() {
        const std::lock_guard held(mutex_);
        const auto now = std::chrono::steady_clock::now();
        if (now < next_ || !zk_.health().ready) return false;
        next_ = now + std::chrono::seconds(3); // at the latest: no reading takes longer
        return true;
    }

    const paddock::client& zk_;
    const orders& sales_;
    std::mutex mutex_; ///< of the rest
    std::string seen_ = R"({"seen":null,"articles":[]})";
    std::chrono::steady_clock::time_point next_{};
};

} // namespace shop
