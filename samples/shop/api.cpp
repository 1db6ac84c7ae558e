#include "api.hpp"

#include "../metrics_text.hpp"
#include "page_text.hpp"

#include <boost/url.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace shop {

namespace {

constexpr std::size_t most_articles = 20; // of an order

answer text(http::status status, std::string_view type, std::string body) {
    answer reply{{status, 11, std::move(body)}, {}};
    reply.head.set(http::field::content_type, type);
    reply.head.set(http::field::cache_control, "no-store");
    reply.head.prepare_payload();
    return reply;
}

answer as_json(http::status status, const json::object& body) {
    return text(status, "application/json", serialize(body) + "\n");
}

std::size_t number_of(std::string_view code) {
    const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                    [&](const auto& one) { return one.code == code; });
    return static_cast<std::size_t>(found - outcomes.begin());
}

/// The lines of an order; an article that stands in several is one.
std::vector<line> lines_of(const std::string& body) {
    std::map<std::string, std::int64_t> counts;
    try {
        const json::value parsed = json::parse(body);
        for (const auto& item : parsed.at("items").as_array()) {
            const std::string article(item.at("article").as_string());
            const auto count = item.at("count").to_number<std::int64_t>();
            if (article.empty() || article.size() > 200 || count < 1 || count > 1'000'000)
                throw std::range_error("article: 1 to 200 bytes, count: 1 to 1000000");
            counts[article] += count;
        }
        if (counts.empty() || counts.size() > most_articles)
            throw std::range_error("items: 1 to 20 articles");
    } catch (const std::exception& e) {
        throw refusal("bad_request", e.what());
    }
    std::vector<line> lines;
    for (const auto& [article, count] : counts)
        lines.push_back({article, count, {}, 0});
    return lines;
}

const char* code_of(const paddock::error_code& why) {
    if (why == paddock::errc::not_connected) return "no_ensemble";
    if (why == paddock::condition::closed) return "closing";
    if (why == paddock::condition::lock_lost) return "lock_lost";
    return "failed";
}

} // namespace

asio::awaitable<answer> api::handle(request asked) {
    try {
        co_return co_await route(asked);
    } catch (const refusal& e) {
        co_return refuse(e.code, e.what());
    } catch (const paddock::system_error& e) {
        co_return refuse(code_of(e.code()), e.what());
    } catch (const std::exception& e) {
        co_return refuse("failed", e.what());
    }
}

asio::awaitable<answer> api::route(const request& asked) {
    const auto target = boost::urls::parse_origin_form(asked.target());
    if (!target) throw refusal("bad_request", "the target is no path");
    std::vector<std::string> path;
    for (const auto& segment : target->segments())
        path.emplace_back(segment);
    path.resize(std::max<std::size_t>(path.size(), 1));
    const std::string& what = path.front();
    const bool posts = asked.method() == http::verb::post;
    if (what == "orders" && posts) co_return co_await place_order(asked.body());
    if (posts || asked.method() != http::verb::get)
        throw refusal("bad_request", "only orders are posted, and the rest is read");
    if (what == "stock" && path.size() == 2) {
        const auto left = co_await goods_.left(path.back());
        if (!left) throw refusal("not_found", "there is no article " + path.back());
        co_return as_json(http::status::ok, {{"article", path.back()}, {"left", *left}});
    }
    if (path.size() > 1) throw refusal("not_found", "there is no such path");
    if (what == "locks") {
        const auto seen = co_await queues_.look();
        co_return as_json(http::status::ok, seen);
    }
    if (what == "health") {
        const auto seen = client_as_json(zk_);
        const bool ready = seen.at("alive").as_bool() && seen.at("ready").as_bool();
        co_return as_json(ready ? http::status::ok : http::status::service_unavailable, seen);
    }
    if (what == "metrics") co_return metrics();
    if (what == "events") co_return events();
    if (what == "") co_return text(http::status::ok, "text/html; charset=utf-8", page_html);
    if (what == "page.css") co_return text(http::status::ok, "text/css", page_css);
    if (what == "page.js") co_return text(http::status::ok, "text/javascript", page_js);
    throw refusal("not_found", "there is no such path");
}

asio::awaitable<answer> api::place_order(std::string body) {
    const auto sold = co_await sales_.place(lines_of(body));
    json::object left, token;
    for (const auto& one : sold.lines) {
        left[one.article] = one.left;
        token[one.article] = one.token;
    }
    ++counts_[number_of("sold")];
    co_return as_json(http::status::created,
                      {{"order", sold.number}, {"left", left}, {"token", token}});
}

answer api::events() {
    auto reply = text(http::status::ok, "text/event-stream", {});
    reply.head.erase(http::field::content_length); // it ends with the connection
    reply.more = [this,
                  at = std::chrono::steady_clock::now()]() mutable -> asio::awaitable<std::string> {
        asio::steady_timer tick(co_await asio::this_coro::executor, at);
        co_await tick.async_wait(asio::use_awaitable);
        at = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        const auto seen = co_await queues_.look();
        co_return "data: " + serialize(seen) + "\n\n";
    };
    return reply;
}

answer api::metrics() const {
    std::ostringstream to;
    metrics::write_metrics(to, zk_.statistics());
    to << "# TYPE shop_answers_total counter\n";
    for (std::size_t n = 0; n < outcomes.size(); ++n)
        to << "shop_answers_total{outcome=\"" << outcomes[n].code << "\"} " << counts_[n] << '\n';
    to << "# TYPE shop_longest_handler_cpu_seconds gauge\nshop_longest_handler_cpu_seconds "
       << std::chrono::duration<double>(std::chrono::nanoseconds(longest_handler_ns)).count()
       << '\n';
    return text(http::status::ok, "text/plain; version=0.0.4", to.str());
}

answer api::refuse(std::string_view code, std::string_view why) {
    const auto number = number_of(code);
    ++counts_[number];
    const auto status = outcomes[number].status;
    auto reply = as_json(status, {{"error", code}, {"text", why}});
    if (status == http::status::service_unavailable) reply.head.set(http::field::retry_after, "1");
    return reply;
}

} // namespace shop
