// What the service answers: the paths, the statuses, the JSON.
#pragma once

#include "http_server.hpp"
#include "orders.hpp"
#include "queues.hpp"

#include <array>
#include <atomic>
#include <string_view>

namespace shop {

/// How a request ends, for the client and for `/metrics`.
struct outcome {
    std::string_view code;
    http::status status;
};
inline constexpr std::array outcomes{
    outcome{"sold", http::status::created},
    outcome{"bad_request", http::status::bad_request},
    outcome{"not_found", http::status::not_found},
    outcome{"sold_out", http::status::conflict},
    outcome{"busy", http::status::service_unavailable},
    outcome{"no_ensemble", http::status::service_unavailable},
    outcome{"lock_lost", http::status::service_unavailable},
    outcome{"stock_busy", http::status::service_unavailable},
    outcome{"closing", http::status::service_unavailable},
    outcome{"failed", http::status::internal_server_error},
};

/// Any thread may call its coroutines.
class api {
public:
    api(const paddock::client& zk, stock& goods, const orders& sales)
        : zk_(zk), goods_(goods), sales_(sales), queues_(zk, sales.articles()) {}

    asio::awaitable<answer> handle(request asked); ///< a handler of the server

    /// The longest time for which a handler has kept a thread busy, for `/metrics`.
    std::atomic<std::int64_t> longest_handler_ns = 0;

private:
    asio::awaitable<answer> route(const request& asked);
    asio::awaitable<answer> place_order(std::string body);
    answer events();
    answer metrics() const;
    answer refuse(std::string_view code, std::string_view why);

    const paddock::client& zk_;
    stock& goods_;
    const orders& sales_;
    queues queues_;
    std::array<std::atomic<std::uint64_t>, outcomes.size()> counts_{};
};

} // namespace shop
