// What the service answers: the paths, the statuses, the JSON.
#pragma once

#include "http_server.hpp"
#include "orders.hpp"
#include "page_text.hpp"
#include "queues.hpp"

#include <boost/url.hpp>

#include <atomic>
#include <map>
#include <sstream>
#include <string_view>

namespace shop {

using http::status;

/// How a request ends: its code in the answer and in `/metrics`.
inline const std::map<std::string_view, status> outcomes{
    {"sold", status::created},
    {"bad_request", status::bad_request},
    {"not_json", status::unsupported_media_type},
    {"not_found", status::not_found},
    {"sold_out", status::conflict},
    {"busy", status::service_unavailable},
    {"no_ensemble", status::service_unavailable},
    {"lock_lost", status::service_unavailable},
    {"stock_busy", status::service_unavailable},
    {"closing", status::service_unavailable},
    {"failed", status::internal_server_error},
};

inline const char* code_of(const paddock::error_code& why) {
    if (why == paddock::errc::not_connected) return "no_ensemble";
    if (why == paddock::errc::draining || why == paddock::errc::closed) return "closing";
    if (why == paddock::condition::lock_lost) return "lock_lost";
    return "failed";
}

/// The lines of an order; an article that stands in several is one.
inline std::vector<line> lines_of(const std::string& body) try {
    std::map<std::string, std::int64_t> counts;
    const json::value parsed = json::parse(body);
    for (const auto& item : parsed.at("items").as_array()) {
        const auto article = json::value_to<std::string>(item.at("article"));
        const auto count = item.at("count").to_number<std::int64_t>();
        if (article.empty() || article.size() > 60 || article.find('\0') != std::string::npos ||
            count < 1 || count > 1'000'000 || (counts[article] += count) > 1'000'000)
            throw std::out_of_range("item");
    }
    if (counts.empty() || counts.size() > 20) throw std::out_of_range("items");
    std::vector<line> lines;
    for (const auto& [article, count] : counts)
        lines.push_back({article, count, {}, 0});
    return lines;
} catch (const std::exception&) {
    throw refusal("bad_request", R"(expected {"items": [{"article": "plums", "count": 1}]}, with 1)"
                                 " to 20 articles of 1 to 60 bytes, and counts from 1 to 1000000");
}

/// Any thread may call its coroutines.
class api {
public:
    api(const paddock::client& zk, stock& goods, const orders& sales)
        : zk_(zk), goods_(goods), sales_(sales), queues_(zk, sales) {
        for (const auto& [code, status] : outcomes)
            counts_[code] = 0; // no other is added later, so threads may share the map
    }

    /// A handler of the server.
    asio::awaitable<answer> handle(request asked) {
        try {
            co_return co_await route(asked);
        } catch (const refusal& e) {
            co_return refuse(e.code, e.what());
        } catch (const paddock::system_error& e) {
            if (e.code() == asio::error::operation_aborted) throw; // nobody hears the answer
            co_return refuse(code_of(e.code()), e.what());
        } catch (const std::exception& e) {
            co_return refuse("failed", e.what());
        }
    }

    /// The longest time for which a handler has kept a thread busy, for `/metrics`.
    std::atomic<std::int64_t> longest_handler_ns = 0;

private:
    asio::awaitable<answer> route(const request& asked) {
        const auto target = boost::urls::parse_origin_form(asked.target());
        if (!target) throw refusal("bad_request", "the target is no path");
        std::vector<std::string> path;
        for (const auto& segment : target->segments())
            path.emplace_back(segment);
        const std::string what = path.empty() ? "" : path.front();
        if (what == "orders" && path.size() == 1 && asked.method() == http::verb::post)
            co_return co_await place_order(asked);
        if (asked.method() != http::verb::get && asked.method() != http::verb::head)
            throw refusal("bad_request", "only orders are posted, and the rest is read");
        if (what == "stock" && path.size() == 2) {
            const auto left = co_await goods_.left(path.back());
            co_return json_answer({{"article", path.back()}, {"left", left}});
        }
        if (path.size() > 1) throw refusal("not_found", "there is no such path");
        if (what == "locks") co_return text_answer("application/json", co_await queues_.look());
        if (what == "health") { // of readiness: see samples/README.md
            const auto seen = as_json(zk_);
            const bool ready = seen.at("alive").as_bool() && seen.at("ready").as_bool();
            co_return json_answer(seen, ready ? status::ok : status::service_unavailable);
        }
        if (what == "metrics") co_return metrics();
        if (what == "events") co_return events();
        if (what == "") co_return text_answer("text/html; charset=utf-8", page_html);
        if (what == "page.css") co_return text_answer("text/css", page_css);
        if (what == "page.js") co_return text_answer("text/javascript", page_js);
        throw refusal("not_found", "there is no such path");
    }

    asio::awaitable<answer> place_order(const request& asked) {
        // A page of another site may post anything else without asking.
        if (!asked[http::field::content_type].starts_with("application/json"))
            throw refusal("not_json", "an order has the content type application/json");
        const auto sold = co_await sales_.place(lines_of(asked.body()));
        json::object left, token;
        for (const auto& one : sold.lines) {
            left[one.article] = one.left;
            token[one.article] = one.token;
        }
        ++counts_.at("sold");
        co_return json_answer({{"order", sold.number}, {"left", left}, {"token", token}},
                              status::created);
    }

    answer events() {
        auto reply = text_answer("text/event-stream", {});
        reply.head.erase(http::field::content_length); // it ends with the connection
        const auto tick = std::make_shared<asio::steady_timer>(zk_.get_executor());
        reply.more = [this, tick]() -> asio::awaitable<std::string> {
            co_await tick->async_wait(asio::use_awaitable);
            tick->expires_after(std::chrono::seconds(1));
            const auto seen = co_await queues_.look();
            co_return "data: " + seen + "\n";
        };
        return reply;
    }

    answer metrics() const {
        std::ostringstream to;
        paddock::write_prometheus(to, zk_.statistics());
        to << "# TYPE shop_answers_total counter\n";
        for (const auto& [code, count] : counts_)
            to << "shop_answers_total{code=\"" << code << "\"} " << count << '\n';
        to << "# TYPE shop_longest_handler_cpu_seconds gauge\nshop_longest_handler_cpu_seconds "
           << seconds(std::chrono::nanoseconds(longest_handler_ns)) << '\n';
        return text_answer("text/plain; version=0.0.4", to.str());
    }

    answer refuse(std::string_view code, std::string_view why) {
        ++counts_.at(code);
        auto reply = json_answer({{"error", code}, {"text", why}}, outcomes.at(code));
        if (reply.head.result() == status::service_unavailable)
            reply.head.set(http::field::retry_after, "1");
        return reply;
    }

    static answer text_answer(std::string_view type, std::string body, status is = status::ok) {
        answer reply{{is, 11, std::move(body)}};
        reply.head.set(http::field::content_type, type);
        reply.head.set(http::field::cache_control, "no-store");
        reply.head.set("Content-Security-Policy", page_policy);
        reply.head.prepare_payload();
        return reply;
    }

    static answer json_answer(const json::object& body, status is = status::ok) {
        return text_answer("application/json", json_text(body) + "\n", is);
    }

    const paddock::client& zk_;
    stock& goods_;
    const orders& sales_;
    queues queues_;
    std::map<std::string_view, std::atomic<std::uint64_t>> counts_;
};

} // namespace shop
