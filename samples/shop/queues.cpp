#include "queues.hpp"

#include <boost/asio.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace shop {

namespace {
constexpr std::size_t most_shown = 50; // of the contenders for one article
constexpr std::chrono::seconds read_limit{2};

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

json::object as_json(const paddock::contender& one) {
    return {{"label", one.label},       {"host", one.host},
            {"pid", one.pid},           {"holds", one.holder},
            {"sequence", one.sequence}, {"since", seconds(one.since.time_since_epoch())}};
}
} // namespace

json::object client_as_json(const paddock::client& zk) {
    const auto health = zk.health();
    return {{"alive", health.alive},   {"ready", health.ready},
            {"reason", health.reason}, {"state", name_of(zk.state())},
            {"epoch", zk.epoch()},     {"lease_seconds", seconds(zk.lease_remaining())},
            {"server", zk.server()}};
}

asio::awaitable<json::array> queues::read() const {
    json::array articles;
    for (const auto& used : co_await articles_.keys()) {
        const auto queue = co_await articles_.contenders(used.key);
        json::array shown;
        for (std::size_t n = 0; n < queue.size() && n < most_shown; ++n)
            shown.push_back(as_json(queue[n]));
        const json::object one{
            {"article", used.key}, {"contenders", queue.size()}, {"queue", std::move(shown)}};
        if (!queue.empty()) articles.push_back(one);
    }
    co_return articles;
}

bool queues::should_read() {
    const std::lock_guard held(mutex_);
    if (reading_ || std::chrono::steady_clock::now() < next_ || !zk_.health().ready) return false;
    return reading_ = true;
}

asio::awaitable<json::object> queues::look() {
    if (should_read()) {
        asio::steady_timer limit(co_await asio::this_coro::executor, read_limit);
        std::optional<json::array> now;
        try {
            auto first = co_await paddock::first_of(read(), limit.async_wait(asio::use_awaitable));
            if (first.index() == 0) now = std::move(std::get<0>(first));
        } catch (const std::exception&) { // the ensemble is away, or whoever asked
        }
        const std::lock_guard held(mutex_);
        if (now) seen_ = std::move(*now);
        reading_ = false;
        next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }
    json::object all{{"now", seconds(std::chrono::system_clock::now().time_since_epoch())},
                     {"client", client_as_json(zk_)}};
    const std::lock_guard held(mutex_);
    all["articles"] = seen_;
    co_return all;
}

} // namespace shop
